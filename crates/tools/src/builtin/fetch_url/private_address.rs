//! Decides which IP addresses are public (T10).
//!
//! Only addresses that anybody on the internet can reach are fetched from. An address that embeds another one is
//! checked by the address that is finally reached.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Returns the kind of address, or `None` if it is public.
pub(super) fn private(address: IpAddr) -> Option<&'static str> {
    match address {
        IpAddr::V4(address) => private_v4(address),
        IpAddr::V6(address) => private_v6(address),
    }
}

fn private_v4(address: Ipv4Addr) -> Option<&'static str> {
    match address.octets() {
        [127, ..] => Some("this machine"),
        [0, ..] => Some("an unspecified address"),
        [10, ..] | [172, 16..=31, ..] | [192, 168, ..] => Some("a private network"),
        [169, 254, ..] => Some("a link-local address"),
        [100, 64..=127, ..] => Some("a carrier's shared network"),
        [192, 0, 0, _] | [192, 88, 99, _] => Some("a protocol's own address"),
        [192, 0, 2, _] | [198, 51, 100, _] | [203, 0, 113, _] => Some("an address for documentation"),
        [198, 18..=19, ..] => Some("an address for benchmarks"),
        [224..=239, ..] => Some("a multicast address"),
        [240..=255, ..] => Some("a reserved address"),
        _ => None,
    }
}

fn private_v6(address: Ipv6Addr) -> Option<&'static str> {
    let inner = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        private_v4(Ipv4Addr::new(a, b, c, d))
    };
    match address.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0] => Some("an unspecified address"),
        [0, 0, 0, 0, 0, 0, 0, 1] => Some("this machine"),
        // An IPv4-mapped address, and one behind a NAT64 gateway.
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => inner(high, low),
        [0x64, 0xff9b, ..] => Some("a private network behind NAT64"),
        [0x2002, ..] => Some("a 6to4 address"),
        [0x2001, 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => Some("an address for documentation"),
        [0x2001, 0, ..] => Some("a Teredo address"),
        [0x2001, 0..=0x1ff, ..] => Some("a protocol's own address"),
        [0xfc00..=0xfdff, ..] => Some("a private network"),
        [0xfe80..=0xfebf, ..] => Some("a link-local address"),
        [0xfec0..=0xfeff, ..] => Some("a site-local address"),
        [0xff00..=0xffff, ..] => Some("a multicast address"),
        [0x2000..=0x3fff, ..] => None,
        _ => Some("a reserved address"),
    }
}

#[cfg(test)]
mod tests {
    use super::private;

    // proves T10: private addresses are refused
    #[test]
    fn only_what_anybody_could_reach_is_not_private() {
        for public in [
            "8.8.8.8",
            "1.1.1.1",
            "172.15.0.1",
            "172.32.0.1",
            "100.63.0.1",
            "100.128.0.1",
            "192.0.1.1",
            "198.17.0.1",
            "198.20.0.1",
            "223.255.255.255",
            "9.9.9.9",
            "11.0.0.1",
            "2606:4700::1111",
            "2a00:1450::1",
            "2001:4860::8888",
            "64:ff9b::8.8.8.8",
            "::ffff:8.8.8.8",
        ] {
            assert_eq!(private(public.parse().unwrap()), None, "{public}");
        }
        for address in [
            "127.0.0.1",
            "127.255.255.254",
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "100.127.255.255",
            "192.0.0.8",
            "192.0.2.1",
            "198.51.100.1",
            "203.0.113.1",
            "198.18.0.1",
            "198.19.255.255",
            "192.88.99.1",
            "224.0.0.1",
            "239.1.1.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::7f00:1",
            "64:ff9b::127.0.0.1",
            "64:ff9b::a00:1",
            "64:ff9b:1::1",
            "2002:7f00:1::",
            "2002:808:808::",
            "2001::1",
            "2001:10::1",
            "2001:20::1",
            "2001:db8::1",
            "3fff::1",
            "fc00::1",
            "fd12:3456::1",
            "fe80::1",
            "febf::1",
            "fec0::1",
            "ff02::1",
            "100::1",
            "5f00::1",
            "4000::1",
        ] {
            assert!(private(address.parse().unwrap()).is_some(), "{address}");
        }
    }
}
