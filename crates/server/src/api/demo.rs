//! The demo: a real job of the model that follows a script, so that a first visit shows something before there is a model.

use std::path::PathBuf;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use windlass_setup::demo::{PROMPT, make_scratch};
use windlass_vocab::MessageId;

use super::sessions::{SessionSummary, fresh_suffix};
use crate::access::SignedIn;
use crate::document::answers::Conflict;
use crate::error::{ApiError, ErrorKind};
use crate::state::HttpServer;

/// The key of a user's demo, and the id of its message: asking twice plays it once.
const KEY: &str = "demo-page";

/// Plays the demo, where no model is connected
///
/// The session works in a folder of its own. Who has a demo already gets that one.
#[utoipa::path(
    post,
    path = "/api/demo",
    tag = "sessions",
    responses((status = 200, description = "The session", body = SessionSummary), Conflict)
)]
pub(crate) async fn play(
    State(state): State<Arc<HttpServer>>,
    SignedIn(caller): SignedIn,
) -> Result<Json<SessionSummary>, ApiError> {
    if let Some(known) = state.store().find(&caller.user, KEY).await? {
        let row = state.session(&caller, known).await?;
        return Ok(Json(SessionSummary::of(&state, row).await?));
    }
    let _room = state.room_for_session(&caller).await?;
    if !state.plays_demo(&caller.user).await? {
        let error = ApiError::new(ErrorKind::Busy, "a model is connected, so the demo is not played");
        return Err(error.hint("make a session: that model answers there"));
    }
    let folder = scratch(std::env::temp_dir()).await?;
    let built = state.agent_of(&caller, &folder).await?;
    let session = state.keeper.hold(built.agent.open(KEY).await?);
    let _place = state.accept_work(&caller, session.id())?;
    let id = session.id();
    session.send(MessageId::from(KEY), PROMPT.to_owned()).await?;
    let row = state.session(&caller, id).await?;
    Ok(Json(SessionSummary::of(&state, row).await?))
}

/// Makes the folder with the demo's files.
async fn scratch(parent: PathBuf) -> Result<PathBuf, ApiError> {
    let made = tokio::task::spawn_blocking(move || make_scratch(&parent, &fresh_suffix())).await;
    made.map_err(std::io::Error::other).flatten().map_err(|error| {
        tracing::warn!(%error, "no folder for the demo can be made");
        ApiError::new(ErrorKind::Internal, "no folder for the demo can be made")
            .hint("set TMPDIR to a folder that the server can write to")
    })
}
