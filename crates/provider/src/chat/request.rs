//! The request body.
//!
//! The protocol: the stable part (model, tools, system message, each message of the history once) is kept in
//! [`Segments`] and only ever grows at its end while the epoch stays the same; the volatile tail and the parameters
//! close the body. So the bytes a provider caches stay the same from turn to turn, and the history is never encoded
//! twice.

use bytes::{BufMut as _, Bytes, BytesMut};
use windlass_vocab::{Failure, FailureClass, Message};

use super::message::{ChatWriter, PromptRole, has_nothing_for_chat, write_words};
use super::wire::{Parameters, WireTool};
use crate::config::ModelConfig;
use crate::images::ImageSource;
use crate::model::ModelRequest;
use crate::output_tool::{AskedOutput, any_schema};
use crate::request_body::RequestBody;
use crate::segments::Segments;
use crate::write_json::{write, write_string};

/// Encodes `request`, reusing what `segments` already holds.
pub fn encode(
    config: &ModelConfig,
    request: &ModelRequest<'_>,
    segments: &mut Segments,
) -> Result<RequestBody, Failure> {
    let prefix = request.context.prefix.as_str();
    let images = ImageSource::take(config, segments);
    let writer = ChatWriter::new(config, &images);
    let stable = segments.extend(
        request.epoch,
        request.history,
        &mut |out| write_prefix(out, config, request),
        &mut |out, place, message| {
            if has_nothing_for_chat(message) {
                return;
            }
            if place > 0 || !prefix.is_empty() {
                write(out, ",");
            }
            writer.write(out, request.history, place);
        },
    );
    let whole = stable.and_then(|stable| Ok(RequestBody::new(stable, closing(config, request)?)));
    whole.map_err(|error| {
        Failure::new(FailureClass::Internal, format!("The request could not be written as JSON: {error}."))
    })
}

fn write_prefix(out: &mut BytesMut, config: &ModelConfig, request: &ModelRequest<'_>) -> serde_json::Result<()> {
    let context = request.context;
    write_string(out, r#"{"model":"#, &config.model);
    let asked = AskedOutput::of(config, request, any_schema);
    let output = asked.tool().map(WireTool::of_output);
    let tools: Vec<WireTool<'_>> = context.offer.iter().map(WireTool::of).chain(output).collect();
    if !tools.is_empty() {
        write(out, r#","tools":"#);
        serde_json::to_writer((&mut *out).writer(), &tools)?;
    }
    write(out, r#","messages":["#);
    if !context.prefix.is_empty() {
        write_words(out, PromptRole::System, &context.prefix);
    }
    Ok(())
}

/// Encodes the part after the history: the tail, and the parameters.
fn closing(config: &ModelConfig, request: &ModelRequest<'_>) -> serde_json::Result<Bytes> {
    let mut out = Vec::with_capacity(256 + request.tail.len());
    let after_results = matches!(request.history.last(), Some(Message::Tool { .. }));
    let may_remind = !after_results || config.abilities.words_after_results.is_not_excluded();
    if may_remind && !request.tail.is_empty() {
        if !(request.history.is_empty() && request.context.prefix.is_empty()) {
            out.push(b',');
        }
        let reminder = format!("<reminder>\n{}\n</reminder>", request.tail);
        write_words(&mut out, PromptRole::User, &reminder);
    }
    out.push(b']');
    let brace = out.len();
    serde_json::to_writer(&mut out, &Parameters::of(config, request))?;
    // The parameters are serialized as an object of their own; replacing its brace by a comma merges it into the
    // body.
    out[brace] = b',';
    Ok(out.into())
}
