//! Writes small PNG pictures by hand: without compression that needs no package.

const SIDE: u32 = 16;

/// Returns a square of one colour, different for every `number`, as a PNG.
#[must_use]
pub fn picture(number: u8) -> Vec<u8> {
    let colour = [40 + number * 30, 200 - number * 20, 90 + number * 15];
    let row = [&[0][..], &colour.repeat(SIDE as usize)].concat();
    let pixels = row.repeat(SIDE as usize);
    let mut header = [SIDE.to_be_bytes(), SIDE.to_be_bytes()].concat();
    // Eight bits per channel, three channels (RGB), default compression, filter and interlacing.
    header.extend([8, 2, 0, 0, 0]);
    [b"\x89PNG\r\n\x1a\n".to_vec(), chunk(b"IHDR", &header), chunk(b"IDAT", &stored(&pixels)), chunk(b"IEND", &[])]
        .concat()
}

fn chunk(kind: &[u8; 4], data: &[u8]) -> Vec<u8> {
    let length = u32::try_from(data.len()).unwrap_or_default();
    let body = [&kind[..], data].concat();
    [&length.to_be_bytes()[..], &body, &crc(&body).to_be_bytes()].concat()
}

/// Wraps the data as one stored block in a zlib stream.
fn stored(data: &[u8]) -> Vec<u8> {
    let length = u16::try_from(data.len()).unwrap_or_default();
    let start = [&[0x78, 0x01, 1][..], &length.to_le_bytes(), &(!length).to_le_bytes()].concat();
    [&start[..], data, &adler(data).to_be_bytes()].concat()
}

fn crc(bytes: &[u8]) -> u32 {
    let step = |crc: u32, byte: &u8| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| if crc & 1 == 1 { (crc >> 1) ^ 0xEDB8_8320 } else { crc >> 1 })
    };
    !bytes.iter().fold(!0, step)
}

fn adler(bytes: &[u8]) -> u32 {
    let (a, b) = bytes.iter().fold((1_u32, 0_u32), |(a, b), byte| {
        let a = (a + u32::from(*byte)) % 65_521;
        (a, (b + a) % 65_521)
    });
    b << 16 | a
}

#[cfg(test)]
mod tests {
    use super::{adler, crc, picture};

    #[test]
    fn the_sums_are_those_of_the_standard() {
        assert_eq!(crc(b"123456789"), 0xCBF4_3926);
        assert_eq!(crc(b"IEND"), 0xAE42_6082);
        assert_eq!(adler(b"Wikipedia"), 0x11E6_0398);
    }

    #[test]
    fn every_picture_is_a_png_of_its_own() {
        let pictures: std::collections::BTreeSet<Vec<u8>> = (1..=7).map(picture).collect();
        assert_eq!(pictures.len(), 7);
        assert!(pictures.iter().all(|bytes| bytes.starts_with(b"\x89PNG\r\n\x1a\n") && bytes.len() < 1000));
    }
}
