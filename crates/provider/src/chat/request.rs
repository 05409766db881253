//! The request body.
//!
//! The protocol: the stable part (model, tools, system message, each message of the history once) is kept in
//! [`Segments`] and only ever grows at its end while the epoch stays the same; the volatile tail and the parameters
//! close the body. So the bytes a provider caches stay the same from turn to turn, and the history is never encoded
//! twice.

use bytes::{BufMut as _, Bytes, BytesMut};
use windlass_vocab::Failure;

use super::message::{ChatWriter, PromptRole, write_words};
use super::wire::{Parameters, WireTool};
use crate::config::ModelConfig;
use crate::images::ImageSource;
use crate::model::ModelRequest;
use crate::output_tool::{AskedOutput, any_schema};
use crate::request_body::{RequestBody, end_body, reminder, unwritable};
use crate::segments::Segments;
use crate::write_json::{ends_with_object, write, write_string};

/// Encodes `request`, reusing what `segments` already holds.
pub fn encode(
    config: &ModelConfig,
    request: &ModelRequest<'_>,
    segments: &mut Segments,
) -> Result<RequestBody, Failure> {
    let images = ImageSource::take(config, segments);
    let writer = ChatWriter { reader: request.model, abilities: &config.abilities, images: &images };
    let stable = segments.extend(
        request.epoch,
        request.history,
        &mut |out| write_prefix(out, config, request),
        &mut |out, place, _, ids| writer.write(out, request.history, place, ids),
    );
    let whole = stable.and_then(|stable| {
        let closing = closing(config, request, &writer, &stable)?;
        Ok(RequestBody::new(stable, closing))
    });
    whole.map_err(|error| unwritable(&error))
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
fn closing(
    config: &ModelConfig,
    request: &ModelRequest<'_>,
    writer: &ChatWriter<'_>,
    stable: &[u8],
) -> serde_json::Result<Bytes> {
    let mut out = Vec::with_capacity(256 + request.tail.len());
    if !request.tail.is_empty() {
        if ends_with_object(stable) {
            out.push(b',');
        }
        writer.write_before_user(&mut out, request.history);
        write_words(&mut out, PromptRole::User, &reminder(request.tail));
    }
    end_body(out, &Parameters::of(config, request))
}
