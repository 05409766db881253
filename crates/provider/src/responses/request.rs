//! The request body.
//!
//! The protocol: the stable part (model, instructions, tools, what is the same in every request of the session, and
//! each message of the history once) is kept in [`Segments`] and only ever grows at its end while the epoch stays the
//! same; the volatile tail and the parameters of the turn close the body.

use bytes::{BufMut as _, Bytes, BytesMut};
use windlass_vocab::Failure;

use super::input::{write_message, write_user};
use super::parameters::{ReasoningSummary, ResponseParameters, ResponseTool};
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
    let stable = segments.extend(
        request.epoch,
        request.history,
        &mut |out| write_prefix(out, config, request),
        &mut |out, _, message, ids| write_message(out, message, request.model, &images, ids),
    );
    let whole = stable.and_then(|stable| {
        let with_summary = closing(config, request, &stable, ReasoningSummary::Auto)?;
        let without = || closing(config, request, &stable, ReasoningSummary::Absent);
        let closing_without_summary = config.reasons().then(without).transpose()?;
        Ok(RequestBody { closing_without_summary, ..RequestBody::new(stable, with_summary) })
    });
    whole.map_err(|error| unwritable(&error))
}

/// Nothing is stored at the server; so a reasoning model is asked for its reasoning in a form that can be sent back.
fn write_prefix(out: &mut BytesMut, config: &ModelConfig, request: &ModelRequest<'_>) -> serde_json::Result<()> {
    write_string(out, r#"{"model":"#, &config.model);
    if !request.context.prefix.is_empty() {
        write_string(out, r#","instructions":"#, &request.context.prefix);
    }
    let asked = AskedOutput::of(config, request, any_schema);
    let output = asked.tool().map(ResponseTool::of_output);
    let tools: Vec<ResponseTool<'_>> = request.context.offer.iter().map(ResponseTool::of).chain(output).collect();
    if !tools.is_empty() {
        write(out, r#","tools":"#);
        serde_json::to_writer((&mut *out).writer(), &tools)?;
    }
    if let Some(key) = config.sent_cache_key(request) {
        write_string(out, r#","prompt_cache_key":"#, key);
    }
    write(out, r#","store":false"#);
    if config.reasons() {
        write(out, r#","include":["reasoning.encrypted_content"]"#);
    }
    write(out, r#","input":["#);
    Ok(())
}

/// Encodes the part after the history: the tail, and the parameters.
fn closing(
    config: &ModelConfig,
    request: &ModelRequest<'_>,
    stable: &[u8],
    summary: ReasoningSummary,
) -> serde_json::Result<Bytes> {
    let mut out = Vec::with_capacity(256 + request.tail.len());
    if !request.tail.is_empty() {
        if ends_with_object(stable) {
            out.push(b',');
        }
        write_user(&mut out, &reminder(request.tail));
    }
    end_body(out, &ResponseParameters::of(config, request, summary))
}
