//! The request body.
//!
//! The protocol: the stable part (model, instructions, tools, what is the same in every request of the session, and
//! each message of the history once) is kept in [`Segments`] and only ever grows at its end while the epoch stays the
//! same; the volatile tail and the parameters of the turn close the body.

use bytes::{BufMut as _, Bytes, BytesMut};
use windlass_vocab::{Failure, FailureClass};

use super::input::{ends_with_item, write_message, write_user};
use super::parameters::{ResponseParameters, ResponseTool};
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
    let images = ImageSource::take(config, segments);
    let stable = segments.extend(
        request.epoch,
        request.history,
        &mut |out| write_prefix(out, config, request),
        &mut |out, _, message| write_message(out, message, request.model, &images),
    );
    let whole = stable.and_then(|stable| {
        let closing = closing(config, request, &stable)?;
        Ok(RequestBody::new(stable, closing))
    });
    whole.map_err(|error| {
        Failure::new(FailureClass::Internal, format!("The request could not be written as JSON: {error}."))
    })
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
fn closing(config: &ModelConfig, request: &ModelRequest<'_>, stable: &[u8]) -> serde_json::Result<Bytes> {
    let mut out = Vec::with_capacity(256 + request.tail.len());
    if !request.tail.is_empty() {
        if ends_with_item(stable) {
            out.push(b',');
        }
        write_user(&mut out, &format!("<reminder>\n{}\n</reminder>", request.tail));
    }
    out.push(b']');
    let brace = out.len();
    serde_json::to_writer(&mut out, &ResponseParameters::of(config, request))?;
    // The parameters are serialized as an object of their own; replacing its brace by a comma merges it into the
    // body.
    out[brace] = b',';
    Ok(out.into())
}
