//! A compact JSON serializer that writes the same text as `serde_json` in fewer steps. Every record is written with it;
//! it delegates values that are rare in record bodies (floats, bytes, raw JSON) to `serde_json`.

use serde::ser::{
    Error as _, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant, Serializer,
};
use serde_json::Error;

use crate::Json;
use crate::digits::Digits;
use crate::escape::put_text;

type SerializeResult = Result<(), Error>;

/// Name prefix of the structs that stand for raw text in `serde_json` (`RawValue`, arbitrary-precision numbers). Only
/// its own serializer writes their text; any other would write the name into the journal, permanently.
const ONLY_SERDE_JSON_KNOWS: &str = "$serde_json::private::";

/// Appends JSON to the buffer in `0`.
pub(crate) struct CompactSerializer<'a>(pub(crate) &'a mut Vec<u8>);

/// Appends a number.
pub(crate) fn put_number(bytes: &mut Vec<u8>, number: u64) {
    match u8::try_from(number) {
        Ok(digit @ 0..=9) => bytes.push(b'0' + digit),
        Ok(_) | Err(_) => bytes.extend_from_slice(Digits::of(number).as_bytes()),
    }
}

/// Appends a name that needs no escapes, in quotes.
pub(crate) fn put_name(bytes: &mut Vec<u8>, name: &[u8]) {
    bytes.push(b'"');
    bytes.extend_from_slice(name);
    bytes.push(b'"');
}

/// An array or object whose members are being written.
pub(crate) struct MemberWriter<'a> {
    bytes: &'a mut Vec<u8>,
    /// Offset of the first member.
    begins: usize,
    closes: &'static [u8],
}

impl<'a> CompactSerializer<'a> {
    fn members(self, opens: u8, closes: &'static [u8]) -> MemberWriter<'a> {
        self.0.push(opens);
        MemberWriter { begins: self.0.len(), bytes: self.0, closes }
    }

    /// Like `members`, for an enum variant: wraps the members in an object whose only key is the variant's name.
    fn variant(self, name: &str, opens: u8, closes: &'static [u8]) -> MemberWriter<'a> {
        self.0.push(b'{');
        put_name(self.0, name.as_bytes());
        self.0.push(b':');
        self.members(opens, closes)
    }

    fn text(self, text: &str) -> SerializeResult {
        put_text(self.0, text);
        Ok(())
    }

    fn word(self, word: &str) -> SerializeResult {
        self.0.extend_from_slice(word.as_bytes());
        Ok(())
    }
}

impl MemberWriter<'_> {
    fn next(&mut self) {
        if self.bytes.len() > self.begins {
            self.bytes.push(b',');
        }
    }

    fn item<T: Serialize + ?Sized>(&mut self, value: &T) -> SerializeResult {
        self.next();
        value.serialize(CompactSerializer(self.bytes))
    }

    fn member<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> SerializeResult {
        self.next();
        put_name(self.bytes, name.as_bytes());
        self.bytes.push(b':');
        value.serialize(CompactSerializer(self.bytes))
    }

    fn close(self) -> SerializeResult {
        self.bytes.extend_from_slice(self.closes);
        Ok(())
    }
}

macro_rules! numbers {
    ($($method:ident($number:ty),)*) => {$(
        fn $method(self, number: $number) -> SerializeResult {
            if number < 0 {
                self.0.push(b'-');
            }
            put_number(self.0, number.unsigned_abs().into());
            Ok(())
        }
    )*};
}

macro_rules! counts {
    ($($method:ident($number:ty),)*) => {$(
        fn $method(self, number: $number) -> SerializeResult {
            put_number(self.0, number.into());
            Ok(())
        }
    )*};
}

macro_rules! left_to_serde_json {
    ($($method:ident($value:ty),)*) => {$(
        fn $method(self, value: $value) -> SerializeResult {
            serde_json::Serializer::new(self.0).$method(value)
        }
    )*};
}

impl<'a> Serializer for CompactSerializer<'a> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = MemberWriter<'a>;
    type SerializeTuple = MemberWriter<'a>;
    type SerializeTupleStruct = MemberWriter<'a>;
    type SerializeTupleVariant = MemberWriter<'a>;
    type SerializeMap = MemberWriter<'a>;
    type SerializeStruct = MemberWriter<'a>;
    type SerializeStructVariant = MemberWriter<'a>;

    numbers! { serialize_i8(i8), serialize_i16(i16), serialize_i32(i32), serialize_i64(i64), }
    counts! { serialize_u8(u8), serialize_u16(u16), serialize_u32(u32), serialize_u64(u64), }
    left_to_serde_json! {
        serialize_i128(i128), serialize_u128(u128), serialize_f32(f32), serialize_f64(f64), serialize_char(char),
        serialize_bytes(&[u8]),
    }

    fn serialize_bool(self, value: bool) -> SerializeResult {
        self.word(if value { "true" } else { "false" })
    }

    fn serialize_str(self, text: &str) -> SerializeResult {
        self.text(text)
    }

    fn serialize_none(self) -> SerializeResult {
        self.word("null")
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> SerializeResult {
        value.serialize(self)
    }

    fn serialize_unit(self) -> SerializeResult {
        self.word("null")
    }

    fn serialize_unit_struct(self, _: &'static str) -> SerializeResult {
        self.word("null")
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> SerializeResult {
        self.text(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, name: &'static str, value: &T) -> SerializeResult {
        if name == Json::NAME { serde_json::to_writer(self.0, value) } else { value.serialize(self) }
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> SerializeResult {
        let mut object = self.members(b'{', b"}");
        object.member(variant, value)?;
        object.close()
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<MemberWriter<'a>, Error> {
        Ok(self.members(b'[', b"]"))
    }

    fn serialize_tuple(self, _: usize) -> Result<MemberWriter<'a>, Error> {
        Ok(self.members(b'[', b"]"))
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<MemberWriter<'a>, Error> {
        Ok(self.members(b'[', b"]"))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<MemberWriter<'a>, Error> {
        Ok(self.variant(variant, b'[', b"]}"))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<MemberWriter<'a>, Error> {
        Ok(self.members(b'{', b"}"))
    }

    fn serialize_struct(self, name: &'static str, _: usize) -> Result<MemberWriter<'a>, Error> {
        if name.starts_with(ONLY_SERDE_JSON_KNOWS) {
            return Err(Error::custom("raw JSON outside `Json` can't be written"));
        }
        Ok(self.members(b'{', b"}"))
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<MemberWriter<'a>, Error> {
        Ok(self.variant(variant, b'{', b"}}"))
    }
}

macro_rules! items {
    ($($of:ident::$method:ident,)*) => {$(
        impl $of for MemberWriter<'_> {
            type Ok = ();
            type Error = Error;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> SerializeResult {
                self.item(value)
            }

            fn end(self) -> SerializeResult {
                self.close()
            }
        }
    )*};
}

items! {
    SerializeSeq::serialize_element,
    SerializeTuple::serialize_element,
    SerializeTupleStruct::serialize_field,
    SerializeTupleVariant::serialize_field,
}

macro_rules! fields {
    ($($of:ident,)*) => {$(
        impl $of for MemberWriter<'_> {
            type Ok = ();
            type Error = Error;

            fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> SerializeResult {
                self.member(name, value)
            }

            fn end(self) -> SerializeResult {
                self.close()
            }
        }
    )*};
}

fields! { SerializeStruct, SerializeStructVariant, }

impl SerializeMap for MemberWriter<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> SerializeResult {
        self.next();
        let begins = self.bytes.len();
        key.serialize(CompactSerializer(self.bytes))?;
        match self.bytes.get(begins) {
            Some(b'"') => {}
            // A number or a boolean.
            Some(b'0'..=b'9' | b'-' | b't' | b'f') => {
                self.bytes.insert(begins, b'"');
                self.bytes.push(b'"');
            }
            Some(_) | None => return Err(Error::custom("key must be a string")),
        }
        self.bytes.push(b':');
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> SerializeResult {
        value.serialize(CompactSerializer(self.bytes))
    }

    fn end(self) -> SerializeResult {
        self.close()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Serialize;
    use serde_json::value::RawValue;

    use super::CompactSerializer;
    use crate::{Json, Part};

    #[derive(Serialize)]
    struct SampleUnit;

    #[derive(Serialize)]
    struct SamplePair(i64, Option<&'static str>);

    #[derive(Serialize, PartialEq, Eq, PartialOrd, Ord)]
    enum SampleShape {
        Dot,
        Line(i8),
        Box(u8, u8),
        Text { said: String },
    }

    #[derive(Serialize)]
    #[serde(tag = "is", rename_all = "snake_case")]
    enum SampleTagged {
        Nothing,
        Some { json: Json },
    }

    #[derive(Serialize)]
    struct SampleStruct {
        empty: (),
        unit: SampleUnit,
        pairs: Vec<SamplePair>,
        none: Option<u64>,
        shapes: Vec<SampleShape>,
        tagged: [SampleTagged; 2],
        numbers: BTreeMap<i32, f64>,
        truths: BTreeMap<bool, char>,
        names: BTreeMap<String, Vec<u8>>,
        nested: Vec<Vec<Vec<u8>>>,
        #[serde(flatten)]
        part: Part,
        #[serde(skip_serializing_if = "Option::is_none")]
        skipped: Option<u8>,
    }

    fn whole() -> SampleStruct {
        let json = Json::parse("{ \"n\": 1.50 , \"x\":[] }").unwrap();
        SampleStruct {
            empty: (),
            unit: SampleUnit,
            pairs: vec![SamplePair(i64::MIN, None), SamplePair(i64::MAX, Some("\"é\n"))],
            none: None,
            shapes: vec![
                SampleShape::Dot,
                SampleShape::Line(-7),
                SampleShape::Box(1, 255),
                SampleShape::Text { said: "a\\b".into() },
            ],
            tagged: [SampleTagged::Nothing, SampleTagged::Some { json }],
            numbers: BTreeMap::from([(-1, 0.1), (10, -2.0), (11, f64::NAN)]),
            truths: BTreeMap::from([(true, '"'), (false, 'é')]),
            names: BTreeMap::from([(String::new(), vec![]), ("a\"b".into(), vec![0, 99, 100])]),
            nested: vec![vec![], vec![vec![], vec![1]]],
            part: Part::Thinking { text: "hm".into(), signature: None },
            skipped: None,
        }
    }

    fn written<T: Serialize>(value: &T) -> Result<String, serde_json::Error> {
        let mut bytes = Vec::new();
        value.serialize(CompactSerializer(&mut bytes))?;
        Ok(String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn every_kind_of_value_is_written_as_serde_json_writes_it() {
        // proves J7
        let whole = whole();
        assert_eq!(written(&whole).unwrap(), serde_json::to_string(&whole).unwrap());
        for empty in [vec![], vec![whole]] {
            assert_eq!(written(&empty).unwrap(), serde_json::to_string(&empty).unwrap());
        }
    }

    #[test]
    fn raw_json_is_written_within_json_only() {
        let raw = RawValue::from_string("1.50".into()).unwrap();
        assert!(written(&raw).unwrap_err().to_string().contains("outside `Json`"));
        assert!(written(&BTreeMap::from([("nested", vec![Some(&raw)])])).is_err());
        assert_eq!(written(&Json::parse("1.50").unwrap()).unwrap(), "1.50");
    }

    /// The struct that `serde_json` writes for a number when built with arbitrary precision.
    #[derive(Serialize)]
    #[serde(rename = "$serde_json::private::Number")]
    struct LongNumber {
        #[serde(rename = "$serde_json::private::Number")]
        digits: &'static str,
    }

    #[test]
    fn a_number_of_any_length_is_refused() {
        assert!(written(&LongNumber { digits: "1" }).is_err());
    }

    #[test]
    fn what_can_be_no_key_is_refused() {
        for key in [SampleShape::Line(1), SampleShape::Text { said: String::new() }] {
            let map = BTreeMap::from([(key, 1)]);
            assert_eq!(written(&map).unwrap_err().to_string(), serde_json::to_string(&map).unwrap_err().to_string());
        }
    }
}
