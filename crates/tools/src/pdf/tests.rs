//! Small documents, written by hand.

use super::text_of;
use crate::attach::AttachError;

/// A document of these objects, the first of which is the catalogue; `trailer` is added to the trailer.
fn document(objects: &[String], trailer: &str) -> Vec<u8> {
    let mut bytes = b"%PDF-1.4\n".to_vec();
    let mut offsets = Vec::new();
    for (number, object) in (1..).zip(objects) {
        offsets.push(bytes.len());
        bytes.extend_from_slice(format!("{number} 0 obj\n{object}\nendobj\n").as_bytes());
    }
    let start = bytes.len();
    let size = objects.len() + 1;
    let mut table = format!("xref\n0 {size}\n0000000000 65535 f \n");
    offsets.iter().for_each(|offset| table.push_str(&format!("{offset:010} 00000 n \n")));
    table.push_str(&format!("trailer\n<</Size {size}/Root 1 0 R{trailer}>>\nstartxref\n{start}\n%%EOF\n"));
    bytes.extend_from_slice(table.as_bytes());
    bytes
}

fn stream(entries: &str, content: &str) -> String {
    format!("<</Length {}{entries}>>\nstream\n{content}\nendstream", content.len())
}

/// The objects of a page with this content and this font, and more objects from number 6 on.
fn page(content: &str, font: &str, more: &[String]) -> Vec<String> {
    let page = "<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Contents 4 0 R\
                /Resources<</Font<</F1 5 0 R>>/XObject<</X1 6 0 R>>>>>>";
    let mut objects = vec![
        "<</Type/Catalog/Pages 2 0 R>>".to_owned(),
        "<</Type/Pages/Kids[3 0 R]/Count 1>>".to_owned(),
        page.to_owned(),
        stream("", content),
        font.to_owned(),
    ];
    objects.extend(more.iter().cloned());
    objects
}

const HELVETICA: &str = "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>";

fn read(content: &str, font: &str, more: &[String]) -> Result<String, AttachError> {
    text_of(document(&page(content, font, more), ""))
}

// proves C9
#[test]
fn lines_and_words_are_told_apart_by_where_they_stand() {
    let content = "BT /F1 12 Tf 10 100 Td (Hello) Tj 40 0 Td (there,) Tj 0 -14 Td [(Cap)20(tain)-400(M\\351)] TJ T* \
                   (next) Tj ET BT /F1 12 Tf 1 0 0 1 10 50 Tm (last) Tj 1 0 0 1 60 50 Tm (line) Tj ET";
    assert_eq!(read(content, HELVETICA, &[]).as_deref(), Ok("Hello there,\nCaptain Mé\nnext\nlast line\n"));
}

// proves C9
#[test]
fn fonts_say_what_their_codes_mean() {
    let differences = "<</Type/Font/Subtype/Type1/Encoding<</Type/Encoding/Differences[65/eacute/ffi 97/uni20AC]>>>>";
    assert_eq!(read("BT /F1 9 Tf (ABCa) Tj ET", differences, &[]).as_deref(), Ok("e\u{301}ffiC€\n"));
    let composite = "<</Type/Font/Subtype/Type0/Encoding/Identity-H/ToUnicode 7 0 R>>";
    let map = "1 begincodespacerange <0000> <FFFF> endcodespacerange 1 beginbfrange <0003> <0005> <0041> endbfrange";
    let more = [stream("/Type/XObject/Subtype/Form", "BT /F1 9 Tf <00050003> Tj ET"), stream("", map)];
    let content = "BT /F1 9 Tf <00030004> Tj ET /X1 Do";
    // The form uses the fonts of its page, and draws on the same line.
    assert_eq!(read(content, composite, &more).as_deref(), Ok("ABCA\n"));
}

// proves C9: what can't be read is named, whatever it is
#[test]
fn a_document_without_readable_text_says_why() {
    let form = [stream("/Type/XObject/Subtype/Form", "/X1 Do /X1 Do")];
    for (content, font) in [("", HELVETICA), ("BT (no font) Tj ET", HELVETICA), ("/X1 Do", HELVETICA)] {
        assert_eq!(read(content, font, &form), Err(AttachError::PdfWithoutText), "{content}");
    }
    let unmapped = "<</Type/Font/Subtype/Type0/Encoding/Identity-H>>";
    assert_eq!(read("BT /F1 9 Tf <0003> Tj ET", unmapped, &[]), Err(AttachError::PdfWithoutText));
    for bytes in [&b"%PDF-1.4\n"[..], b"%PDF-1.4\n1 0 obj <</Type/Catalog>> endobj", b"%PDF"] {
        assert_eq!(text_of(bytes.to_vec()), Err(AttachError::DamagedPdf));
    }
    let locked = "<</Filter/Standard/V 2/R 3/Length 128/P -4/O<000102030405060708090a0b0c0d0e0f\
                  101112131415161718191a1b1c1d1e1f>/U<000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f>>>";
    let mut objects = page("BT /F1 9 Tf (secret) Tj ET", HELVETICA, &[]);
    objects.push(locked.to_owned());
    let trailer = "/Encrypt 6 0 R/ID[<00><00>]";
    assert_eq!(text_of(document(&objects, trailer)), Err(AttachError::EncryptedPdf));
}

// proves C9: a document that is cut off anywhere is text or an error, never a panic
#[test]
fn a_document_that_is_cut_off_ends_in_text_or_an_error() {
    let whole = document(&page("BT /F1 9 Tf (words) Tj ET", HELVETICA, &[]), "");
    for end in 0..whole.len() {
        if let Ok(text) = text_of(whole[..end].to_vec()) {
            assert!("words\n".starts_with(text.trim_end()), "cut at {end}: {text:?}");
        }
    }
}
