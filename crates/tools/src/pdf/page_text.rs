//! The text of a page, in the order in which it is drawn. Lines and words are told apart by where the next text stands.

use std::collections::HashMap;
use std::rc::Rc;

use hayro_syntax::content::TypedIter;
use hayro_syntax::content::ops::TypedInstruction;
use hayro_syntax::object::{Array, Dict, Name, Number, Object, Stream};
use hayro_syntax::page::{Page, Resources};

use super::font::FontCodes;

/// Forms within forms, at most.
const DEPTH: usize = 6;
/// A gap within a line, in thousandths of the size of the font, from which on it separates words.
const WORD_GAP: f32 = 180.0;
/// How far the base line may move within a line.
const SAME_LINE: f32 = 1.0;

/// Collects the text of pages.
pub(super) struct TextCollector {
    pub(super) text: String,
    /// The most bytes of text.
    most: usize,
    font: Option<Rc<FontCodes>>,
    /// The base line of the last text.
    line: f32,
}

impl TextCollector {
    pub(super) fn new(most: usize) -> Self {
        Self { text: String::new(), most, font: None, line: 0.0 }
    }

    pub(super) fn is_full(&self) -> bool {
        self.text.len() >= self.most
    }

    pub(super) fn add_page(&mut self, page: &Page<'_>) {
        let mut fonts = HashMap::new();
        self.add(page.typed_operations(), page.resources(), &mut fonts, 0);
        self.end_line();
    }

    fn add(
        &mut self,
        mut operations: TypedIter<'_>,
        resources: &Resources<'_>,
        fonts: &mut HashMap<String, Option<Rc<FontCodes>>>,
        depth: usize,
    ) {
        while let Some(operation) = operations.next() {
            if self.is_full() {
                return;
            }
            match operation {
                TypedInstruction::TextFont(font) => {
                    let name = font.0.as_str().to_owned();
                    let load = || resources.get_font(font.0).map(|dict| Rc::new(FontCodes::new(&dict)));
                    self.font = fonts.entry(name).or_insert_with(load).clone();
                }
                TypedInstruction::NextLine(by) => self.moved(by.0, by.1),
                TypedInstruction::NextLineAndSetLeading(by) => self.moved(by.0, by.1),
                TypedInstruction::SetTextMatrix(matrix) => self.move_to(matrix.5.as_f32()),
                TypedInstruction::NextLineUsingLeading(_) => self.end_line(),
                TypedInstruction::ShowText(shown) => self.show(shown.0.as_bytes()),
                TypedInstruction::NextLineAndShowText(shown) => {
                    self.end_line();
                    self.show(shown.0.as_bytes());
                }
                TypedInstruction::ShowTextWithParameters(shown) => {
                    self.end_line();
                    self.show(shown.2.as_bytes());
                }
                TypedInstruction::ShowTexts(shown) => self.show_all(shown.0),
                TypedInstruction::XObject(object) => self.add_form(object.0, resources, depth),
                _ => {}
            }
        }
    }

    /// Adds the text of a form: a part of a page with fonts of its own.
    fn add_form(&mut self, name: &Name<'_>, resources: &Resources<'_>, depth: usize) {
        let Some(form) = resources.get_x_object(name).filter(|form| depth < DEPTH && is_form(form)) else { return };
        let Ok(content) = form.decoded() else { return };
        let own = form.dict().get::<Dict<'_>>(&b"Resources"[..]).map(Resources::new);
        let font = self.font.take();
        let mut fonts = HashMap::new();
        self.add(TypedIter::new(&content), own.as_ref().unwrap_or(resources), &mut fonts, depth + 1);
        self.font = font;
    }

    fn moved(&mut self, right: Number, up: Number) {
        if up.as_f32().abs() > SAME_LINE {
            self.line += up.as_f32();
            self.end_line();
        } else if right.as_f32() > 0.0 {
            self.end_word();
        }
    }

    fn move_to(&mut self, line: f32) {
        if (line - self.line).abs() > SAME_LINE {
            self.end_line();
        } else {
            self.end_word();
        }
        self.line = line;
    }

    fn show(&mut self, codes: &[u8]) {
        if let Some(font) = &self.font {
            font.append(codes, &mut self.text);
        }
    }

    fn show_all(&mut self, items: &Array<'_>) {
        for item in items.iter::<Object<'_>>() {
            match item {
                Object::String(codes) => self.show(codes.as_bytes()),
                Object::Number(gap) if gap.as_f32() < -WORD_GAP => self.end_word(),
                _ => {}
            }
        }
    }

    fn end_word(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with(char::is_whitespace) {
            self.text.push(' ');
        }
    }

    fn end_line(&mut self) {
        let kept = self.text.trim_end_matches(' ').len();
        self.text.truncate(kept);
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push('\n');
        }
    }
}

fn is_form(stream: &Stream<'_>) -> bool {
    stream.dict().get::<Name<'_>>(&b"Subtype"[..]).is_some_and(|kind| kind.as_str() == "Form")
}
