//! The number of a record in a request.

use serde::Deserialize;
use utoipa::ToSchema;

/// The largest number that every program reads exactly: JavaScript's numbers have 53 bits.
const LARGEST: u64 = (1 << 53) - 1;

/// The number of a record, as somebody sent it: the session need not have that many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(try_from = "u64")]
#[schema(value_type = u64, format = "int64", minimum = 0, maximum = 9_007_199_254_740_991_u64)]
pub(crate) struct RecordNumber(pub(crate) u64);

/// The number is too large.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the number of a record is at most {LARGEST}")]
pub(crate) struct RecordNumberError;

impl TryFrom<u64> for RecordNumber {
    type Error = RecordNumberError;

    fn try_from(number: u64) -> Result<Self, RecordNumberError> {
        if number <= LARGEST { Ok(Self(number)) } else { Err(RecordNumberError) }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use utoipa::PartialSchema;

    use super::{LARGEST, RecordNumber};

    // proves W3
    #[test]
    fn a_record_number_is_read_up_to_the_one_that_the_document_names() {
        let read = |number: Value| serde_json::from_value::<RecordNumber>(number).ok();
        assert_eq!(read(json!(0)), Some(RecordNumber(0)));
        assert_eq!(read(json!(LARGEST)), Some(RecordNumber(LARGEST)));
        for wrong in [json!(LARGEST + 1), json!(-1), json!(1.5), json!("1"), json!(null)] {
            assert_eq!(read(wrong.clone()), None, "{wrong}");
        }
        assert_eq!(serde_json::to_value(RecordNumber::schema()).unwrap()["maximum"], json!(LARGEST));
    }
}
