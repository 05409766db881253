//! Finds the user whose process listens at an address of this machine.
//!
//! Linux lists all listening sockets with their users; on other systems the user is not known.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// The user whose process listens at an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListenerOwner {
    /// The user this process runs as.
    Me,
    /// Another user, by name where there is one.
    Other(String),
    NotKnown,
}

impl ListenerOwner {
    /// Returns the user who listens at `address`.
    pub(super) fn of(address: SocketAddr) -> Self {
        let read = |path| std::fs::read_to_string(path).unwrap_or_default();
        let users = [read("/proc/net/tcp"), read("/proc/net/tcp6")].map(|table| listening(&table, address)).concat();
        Self::among(&users, rustix::process::geteuid().as_raw())
    }

    /// Several sockets may accept the same connections: one of another user is enough to return `Other`.
    fn among(users: &[u32], me: u32) -> Self {
        match users.iter().find(|user| **user != me) {
            Some(other) => Self::Other(name_of(*other).unwrap_or_else(|| other.to_string())),
            None if users.is_empty() => Self::NotKnown,
            None => Self::Me,
        }
    }
}

fn name_of(user: u32) -> Option<String> {
    let users = std::fs::read_to_string("/etc/passwd").ok()?;
    users.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)?.parse() == Ok(user)).then(|| name.to_owned())
    })
}

/// Returns the users of the sockets in a kernel table that would accept a connection to `address`.
fn listening(table: &str, address: SocketAddr) -> Vec<u32> {
    const LISTENING: &str = "0A";
    let user = |line: &str| {
        let mut fields = line.split_whitespace().skip(1);
        let (ip, port) = fields.next()?.split_once(':')?;
        let state = fields.nth(1)?;
        let user = fields.nth(3)?.parse().ok()?;
        let ip = ip_of(ip)?.to_canonical();
        let takes = ip.is_unspecified() || ip == address.ip().to_canonical();
        (state == LISTENING && takes && u16::from_str_radix(port, 16) == Ok(address.port())).then_some(user)
    };
    table.lines().filter_map(user).collect()
}

/// Parses an address as the kernel writes it: 32-bit words in native byte order.
fn ip_of(hex: &str) -> Option<IpAddr> {
    let word = |at: usize| Some(u32::from_str_radix(hex.get(at * 8..at * 8 + 8)?, 16).ok()?.to_ne_bytes());
    match hex.len() {
        8 => Some(Ipv4Addr::from(word(0)?).into()),
        32 => {
            let bytes: Vec<u8> = [word(0)?, word(1)?, word(2)?, word(3)?].concat();
            Some(Ipv6Addr::from(<[u8; 16]>::try_from(bytes).ok()?).into())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{ListenerOwner, listening};

    #[cfg(target_endian = "little")]
    const TABLE: &str = "\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 111 1 0 100 0 0 10 0
   1: 00000000:2CAA 00000000:0000 0A 00000000:00000000 00:00000000 00000000   998        0 112 1 0 100 0 0 10 0
   2: 0100007F:2CAB 0100007F:9999 01 00000000:00000000 00:00000000 00000000   997        0 113 1 0 100 0 0 10 0
   3: 0200007F:2CAC 00000000:0000 0A 00000000:00000000 00:00000000 00000000   996        0 114 1 0 100 0 0 10 0
   4: 00000000000000000000000000000000:2CAD 00000000000000000000000000000000:0000 0A 0:0 0:0 0 995 0 115
   5: 0000000000000000FFFF00000100007F:2CAE 00000000000000000000000000000000:0000 0A 0:0 0:0 0 994 0 116
   6: 00000000000000000000000001000000:2CAF 00000000000000000000000000000000:0000 0A 0:0 0:0 0 993 0 117
";

    // proves X2 in part: the owner of a server decides whether it is used without asking
    #[cfg(target_endian = "little")]
    #[test]
    fn the_sockets_that_would_answer_are_told_from_those_that_would_not() {
        for (address, users) in [
            ("127.0.0.1:8080", &[1000][..]),
            ("127.0.0.1:11434", &[998]),
            // An established connection, and sockets with other addresses.
            ("127.0.0.1:11435", &[]),
            ("127.0.0.1:11436", &[]),
            ("127.0.0.1:11437", &[995]),
            ("127.0.0.1:11438", &[994]),
            ("127.0.0.1:11439", &[]),
            ("[::1]:11439", &[993]),
            ("127.0.0.1:9", &[]),
        ] {
            assert_eq!(listening(TABLE, address.parse().expect("an address")), users, "{address}");
        }
        assert_eq!(listening("nonsense\n 0: x", "127.0.0.1:9".parse().expect("an address")), [0; 0]);
    }

    #[test]
    fn one_socket_of_somebody_else_is_enough_and_none_says_nothing() {
        const NOBODY_HAS: u32 = 4_123_456_789;
        assert_eq!(ListenerOwner::among(&[7], 7), ListenerOwner::Me);
        assert_eq!(ListenerOwner::among(&[7, 7, NOBODY_HAS], 7), ListenerOwner::Other("4123456789".into()));
        assert_eq!(ListenerOwner::among(&[], 7), ListenerOwner::NotKnown);
        #[cfg(unix)]
        assert_eq!(ListenerOwner::among(&[0], 7), ListenerOwner::Other("root".into()));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_this_process_listens_at_is_its_users_own() {
        for address in ["127.0.0.1:0", "0.0.0.0:0"] {
            let listener = std::net::TcpListener::bind(address).expect("a port");
            let port = listener.local_addr().expect("an address").port();
            assert_eq!(ListenerOwner::of(([127, 0, 0, 1], port).into()), ListenerOwner::Me, "{address}");
            drop(listener);
            assert_eq!(ListenerOwner::of(([127, 0, 0, 1], port).into()), ListenerOwner::NotKnown, "{address}");
        }
    }
}
