//! The content of a message: a text, or parts of text, images and files.
//!
//! Images and files are taken from `data:` URLs only and become attachments. Nothing is loaded from an address: a request
//! could otherwise have this server call any other, from inside its network.

use serde::Deserialize;
use serde_json::Value;

use super::error::OpenAiError;
use crate::api::attachments::SentFile;

/// The content of a message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct MessageContent {
    pub(super) text: String,
    /// Its images and files, as `data:` URLs, with the names they have.
    pub(super) files: Vec<DataUrl>,
}

/// A file in a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DataUrl {
    name: Option<String>,
    url: String,
}

impl DataUrl {
    pub(super) fn as_str(&self) -> &str {
        &self.url
    }

    /// Returns the file as one that is attached to a message; `number` makes up its name if it has none.
    pub(super) fn sent(&self, number: usize) -> Option<SentFile> {
        let (media_type, data) = self.url.strip_prefix("data:")?.split_once(";base64,")?;
        let media_type = media_type.split(';').next().unwrap_or_default();
        let (kind, ending) = media_type.split_once('/').unwrap_or(("file", "bin"));
        let kind = if kind == "image" { "image" } else { "file" };
        let ending: String = ending.chars().filter(char::is_ascii_alphanumeric).take(8).collect();
        let name = self.name.clone().unwrap_or_else(|| format!("{kind}-{number}.{ending}"));
        Some(SentFile::new(name, data.to_owned()))
    }
}

/// A part as Chat Completions and Responses write it.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum PartBody {
    Text {
        text: String,
    },
    InputText {
        text: String,
    },
    OutputText {
        text: String,
    },
    Refusal {
        refusal: String,
    },
    ImageUrl {
        image_url: ImageAddress,
    },
    InputImage {
        image_url: Option<String>,
    },
    File {
        file: FileBody,
    },
    InputFile(FileBody),
    #[serde(other)]
    Unknown,
}

#[derive(Deserialize)]
struct ImageAddress {
    url: String,
}

#[derive(Deserialize)]
struct FileBody {
    filename: Option<String>,
    file_data: Option<String>,
}

impl MessageContent {
    /// Reads the content that stands at `place` in the request.
    pub(super) fn read(content: &Value, place: &str) -> Result<Self, OpenAiError> {
        match content {
            Value::Null => Ok(Self::default()),
            Value::String(text) => Ok(Self { text: text.clone(), files: Vec::new() }),
            Value::Array(parts) => {
                let mut whole = Self::default();
                for (index, part) in parts.iter().enumerate() {
                    whole.add(part, &format!("{place}[{index}]"))?;
                }
                Ok(whole)
            }
            Value::Bool(_) | Value::Number(_) | Value::Object(_) => {
                Err(OpenAiError::invalid(place.to_owned(), "content is a text or a list of parts"))
            }
        }
    }

    fn add(&mut self, part: &Value, place: &str) -> Result<(), OpenAiError> {
        let read = PartBody::deserialize(part)
            .map_err(|error| OpenAiError::invalid(place.to_owned(), format!("this part can't be read: {error}")))?;
        match read {
            PartBody::Text { text } | PartBody::InputText { text } | PartBody::OutputText { text } => {
                self.add_text(&text);
            }
            PartBody::Refusal { refusal } => self.add_text(&refusal),
            PartBody::ImageUrl { image_url } => self.add_file(None, Some(image_url.url), place)?,
            PartBody::InputImage { image_url } => self.add_file(None, image_url, place)?,
            PartBody::File { file } | PartBody::InputFile(file) => {
                self.add_file(file.filename, file.file_data, place)?;
            }
            PartBody::Unknown => {
                let message = "only text, images and files can be sent";
                return Err(OpenAiError::unsupported(place.to_owned(), message));
            }
        }
        Ok(())
    }

    fn add_text(&mut self, text: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(text);
    }

    fn add_file(&mut self, name: Option<String>, url: Option<String>, place: &str) -> Result<(), OpenAiError> {
        let url = url.filter(|url| url.starts_with("data:") && url.contains(";base64,"));
        let url = url.ok_or_else(|| {
            let message = "nothing is loaded from an address or by an id: send the content as a `data:` URL in Base64";
            OpenAiError::unsupported(place.to_owned(), message)
        })?;
        self.files.push(DataUrl { name, url });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::MessageContent;

    fn param(content: &serde_json::Value) -> String {
        let error = MessageContent::read(content, "messages[0].content").unwrap_err();
        error.body()["error"]["param"].as_str().unwrap().to_owned()
    }

    // proves W3, C9: text and data URLs are read, addresses are refused with their place in the request
    #[test]
    fn parts_are_read_and_addresses_are_refused() {
        let read = MessageContent::read(
            &json!([{"type": "text", "text": "What"}, {"type": "input_text", "text": "is this?"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA", "detail": "low"}},
                {"type": "input_image", "image_url": "data:image/jpeg;base64,AAAA"},
                {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,AAAA"}}]),
            "messages[0].content",
        )
        .unwrap();
        assert_eq!(read.text, "What\nis this?");
        let names: Vec<String> =
            (1..).zip(&read.files).map(|(n, file)| file.sent(n).unwrap().name().to_owned()).collect();
        assert_eq!(names, ["image-1.png", "image-2.jpeg", "a.pdf"]);
        for part in [
            json!({"type": "image_url", "image_url": {"url": "http://127.0.0.1/a.png"}}),
            json!({"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}),
            json!({"type": "image_url", "image_url": {"url": "file:///etc/passwd"}}),
            json!({"type": "input_image", "file_id": "file-1"}),
            json!({"type": "input_file", "file_id": "file-1"}),
            json!({"type": "input_audio", "input_audio": {}}),
            json!({"type": "image_url"}),
            json!("text"),
        ] {
            assert_eq!(param(&json!([{"type": "text", "text": "x"}, part])), "messages[0].content[1]");
        }
        assert_eq!(param(&json!(3)), "messages[0].content");
    }
}
