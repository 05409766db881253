//! Recognizes images by their first bytes, whatever their names say, and reads their size in pixels. Only kinds that
//! models take are images here: PNG, JPEG, GIF and WebP.

use std::sync::Arc;

use data_encoding::BASE64;
use windlass_vocab::ImageContent;

/// The most bytes of an image file. No provider takes larger ones.
pub const LARGEST_IMAGE: u64 = 20_000_000;

/// A kind of image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ImageKind {
    Png,
    Jpeg,
    Gif,
    WebP,
}

impl ImageKind {
    /// Returns the kind of a file that begins with these bytes.
    pub(crate) fn of(start: &[u8]) -> Option<Self> {
        if start.starts_with(b"\x89PNG\r\n\x1a\n") {
            Some(Self::Png)
        } else if start.starts_with(b"\xff\xd8\xff") {
            Some(Self::Jpeg)
        } else if start.starts_with(b"GIF87a") || start.starts_with(b"GIF89a") {
            Some(Self::Gif)
        } else if start.starts_with(b"RIFF") && start.get(8..12) == Some(b"WEBP") {
            Some(Self::WebP)
        } else {
            None
        }
    }

    pub(crate) fn media_type(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
            Self::Gif => "image/gif",
            Self::WebP => "image/webp",
        }
    }

    /// Returns width and height in pixels; `None` for a file that has none and so can't be displayed.
    fn size(self, content: &[u8]) -> Option<(u32, u32)> {
        let size = match self {
            Self::Png => png_size(content),
            Self::Jpeg => jpeg_size(content),
            Self::Gif => Some((little(content, 6, 2)?, little(content, 8, 2)?)),
            Self::WebP => webp_size(content),
        };
        size.filter(|(width, height)| *width > 0 && *height > 0)
    }
}

/// Returns the image in a file; `None` for a file that is none, or a damaged one.
#[must_use]
pub fn image(name: &str, content: Arc<[u8]>) -> Option<ImageContent> {
    let kind = ImageKind::of(&content)?;
    let (width, height) = kind.size(&content)?;
    Some(ImageContent { name: name.to_owned(), media_type: kind.media_type().to_owned(), width, height, content })
}

/// Returns the image in base64 text, as tool servers send it; `None` if it is none, or too large.
#[must_use]
pub fn image_in_base64(name: &str, data: &str) -> Option<ImageContent> {
    let length = u64::try_from(data.len() / 4 * 3).ok()?;
    if length > LARGEST_IMAGE {
        return None;
    }
    image(name, BASE64.decode(data.trim_end().as_bytes()).ok()?.into())
}

fn big(content: &[u8], at: usize, bytes: usize) -> Option<u32> {
    let bytes = content.get(at..at.checked_add(bytes)?)?;
    Some(bytes.iter().fold(0, |number, byte| number << 8 | u32::from(*byte)))
}

fn little(content: &[u8], at: usize, bytes: usize) -> Option<u32> {
    let bytes = content.get(at..at.checked_add(bytes)?)?;
    Some(bytes.iter().rev().fold(0, |number, byte| number << 8 | u32::from(*byte)))
}

/// The first chunk of a PNG has the size.
fn png_size(content: &[u8]) -> Option<(u32, u32)> {
    if content.get(12..16) != Some(b"IHDR") {
        return None;
    }
    Some((big(content, 16, 4)?, big(content, 20, 4)?))
}

/// Follows the segments of a JPEG to the one with the size.
fn jpeg_size(content: &[u8]) -> Option<(u32, u32)> {
    let mut at = 2;
    loop {
        if content.get(at) != Some(&0xff) {
            return None;
        }
        match content.get(at + 1)? {
            // A fill byte.
            0xff => at += 1,
            // A frame; 0xc4, 0xc8 and 0xcc are other segments.
            0xc0..=0xc3 | 0xc5..=0xc7 | 0xc9..=0xcb | 0xcd..=0xcf => {
                return Some((big(content, at + 7, 2)?, big(content, at + 5, 2)?));
            }
            // The compressed data begins, or the file ends.
            0xda | 0xd9 => return None,
            // Markers without a length.
            0x01 | 0xd0..=0xd8 => at += 2,
            _ => at += 2 + usize::try_from(big(content, at + 2, 2)?).ok()?,
        }
    }
}

/// The first chunk of a WebP says how it is compressed, and so where its size stands.
fn webp_size(content: &[u8]) -> Option<(u32, u32)> {
    match content.get(12..16)? {
        b"VP8 " => Some((little(content, 26, 2)? & 0x3fff, little(content, 28, 2)? & 0x3fff)),
        b"VP8L" => {
            let bits = little(content, 21, 4)?;
            Some(((bits & 0x3fff) + 1, (bits >> 14 & 0x3fff) + 1))
        }
        b"VP8X" => Some((little(content, 24, 3)? + 1, little(content, 27, 3)? + 1)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{image, image_in_base64};

    fn png() -> Vec<u8> {
        [&b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"[..], &640u32.to_be_bytes(), &480u32.to_be_bytes(), b"\x08\x02\0\0\0"]
            .concat()
    }

    fn jpeg() -> Vec<u8> {
        let app = [&b"\xff\xd8\xff\xe0\0\x10JFIF\0"[..], &[0; 9]].concat();
        [&app[..], b"\xff\xff\xc2\0\x11\x08\x01\xe0\x02\x80\x03"].concat()
    }

    fn webp(chunk: &[u8]) -> Vec<u8> {
        [&b"RIFF\0\0\0\0WEBP"[..], chunk].concat()
    }

    // proves C9
    #[test]
    fn the_first_bytes_say_what_an_image_is_and_how_large() {
        let table: [(Vec<u8>, &str, (u32, u32)); 6] = [
            (png(), "image/png", (640, 480)),
            (jpeg(), "image/jpeg", (640, 480)),
            (b"GIF89a\x80\x02\xe0\x01\0".to_vec(), "image/gif", (640, 480)),
            (webp(b"VP8 \0\0\0\0\0\0\0\x9d\x01\x2a\x80\x02\xe0\x01"), "image/webp", (640, 480)),
            (webp(b"VP8L\0\0\0\0\x2f\x7f\xc2\x77\0"), "image/webp", (640, 480)),
            (webp(b"VP8X\x0a\0\0\0\0\0\0\0\x7f\x02\0\xdf\x01\0"), "image/webp", (640, 480)),
        ];
        for (content, media_type, size) in table {
            let found = image("x.txt", content.clone().into()).unwrap_or_else(|| panic!("{media_type}"));
            assert_eq!((found.media_type.as_str(), (found.width, found.height)), (media_type, size));
            for end in 0..content.len() {
                // A file that is cut off is an image only where its size can still be read.
                let cut = image("x", Arc::from(&content[..end]));
                assert!(cut.is_none_or(|cut| (cut.width, cut.height) == size), "{media_type} cut at {end}");
            }
        }
    }

    #[test]
    fn what_only_looks_like_an_image_is_none() {
        let mut empty = png();
        empty[19] = 0;
        empty[18] = 0;
        for content in [
            b"".as_slice(),
            b"not an image",
            b"\x89PNG\r\n\x1a\n",
            b"\xff\xd8\xff\xda\0\0",
            b"\xff\xd8\xff\xe0\xff\xff",
            b"RIFF\0\0\0\0WAVEfmt ",
            &empty,
        ] {
            assert_eq!(image("x.png", content.into()), None, "{content:?}");
        }
        assert_eq!(image_in_base64("", "AAAA"), None);
        assert_eq!(image_in_base64("", "no base64"), None);
        let text = data_encoding::BASE64.encode(&png());
        assert_eq!(image_in_base64("", &text).map(|image| image.width), Some(640));
    }
}
