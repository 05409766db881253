//! The request body.
//!
//! The stable part (model, tools, system text, each message of the history once) is kept in [`Segments`]; what closes
//! the last message, the reminder and the parameters follow it. The marks for the provider's cache are inserted when
//! the body is sent: they move from turn to turn, and the stable bytes do not.

use bytes::{BufMut as _, Bytes, BytesMut};
use windlass_vocab::{Failure, TurnMode};

use super::marks::marks;
use super::message::{LastReply, close, write_message};
use super::parameters::{MessagesParameters, MessagesTool};
use super::schema::is_accepted;
use crate::config::ModelConfig;
use crate::images::ImageSource;
use crate::model::ModelRequest;
use crate::output_tool::AskedOutput;
use crate::request_body::{RequestBody, end_body, unwritable};
use crate::segments::Segments;
use crate::write_json::{write, write_string};

/// What comes before the system text.
pub(super) const BEFORE_SYSTEM: &str = r#","system":[{"type":"text","text":"#;
/// What ends the tools and the system text.
pub(super) const END_OF_LIST: &str = "}]";
/// What comes between the static prefix and the history.
pub(super) const AFTER_STATIC: &str = r#","messages":["#;

/// Encodes `request`, reusing what `segments` already holds.
pub fn encode(
    config: &ModelConfig,
    request: &ModelRequest<'_>,
    segments: &mut Segments,
) -> Result<RequestBody, Failure> {
    let (history, reader) = (request.history, request.model);
    let images = ImageSource::take(config, segments);
    let stable = segments.extend(
        request.epoch,
        history,
        &mut |out| write_prefix(out, config, request),
        &mut |out, place, _, ids| {
            write_message(out, history, place, reader, &images, ids);
        },
    );
    let whole = stable.and_then(|stable| {
        let marks = marks(segments, request.context, sent_tools(config, request), history, reader);
        Ok(RequestBody { marks, ..RequestBody::new(stable, closing(config, request)?) })
    });
    whole.map_err(|error| unwritable(&error))
}

fn write_prefix(out: &mut BytesMut, config: &ModelConfig, request: &ModelRequest<'_>) -> serde_json::Result<()> {
    let context = request.context;
    write_string(out, r#"{"model":"#, &config.model);
    let asked = AskedOutput::of(config, request, is_accepted);
    let output = asked.tool().map(MessagesTool::of_output);
    let tools: Vec<MessagesTool<'_>> = context.offer.iter().map(MessagesTool::of).chain(output).collect();
    if !tools.is_empty() {
        write(out, r#","tools":"#);
        serde_json::to_writer((&mut *out).writer(), &tools)?;
    }
    if !context.prefix.is_empty() {
        write_string(out, BEFORE_SYSTEM, &context.prefix);
        write(out, END_OF_LIST);
    }
    write(out, AFTER_STATIC);
    Ok(())
}

/// Returns how many tools a request has.
fn sent_tools(config: &ModelConfig, request: &ModelRequest<'_>) -> usize {
    let output = AskedOutput::of(config, request, is_accepted);
    request.context.offer.len() + usize::from(output.tool().is_some())
}

/// Encodes the part after the history: the tail, and the parameters.
fn closing(config: &ModelConfig, request: &ModelRequest<'_>) -> serde_json::Result<Bytes> {
    let mut out = Vec::with_capacity(256 + request.tail.len());
    let last_reply = match request.mode {
        TurnMode::Tools | TurnMode::Talk | TurnMode::WrapUp => LastReply::Continued,
        TurnMode::Summary | TurnMode::Title | TurnMode::Plan | TurnMode::Synthesis | TurnMode::Route => {
            LastReply::Answered
        }
    };
    close(&mut out, request.history, request.model, request.tail, last_reply);
    end_body(out, &MessagesParameters::of(config, request))
}
