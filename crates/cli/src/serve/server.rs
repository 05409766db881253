//! What MCP asks of a server, and who of ours answers it.

use std::collections::BTreeMap;
use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, CustomRequest, CustomResult, ElicitRequest,
    ElicitResult, ErrorCode, Implementation, InputRequest, InputRequiredResult, InputResponses, JsonObject,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use tokio_util::sync::CancellationToken;
use windlass_runtime::{OpenApprovals, Standing};

use super::arguments::{self, Ask, OfSession};
use super::client::Client;
use super::errand::{self, Begun, Errand};
use super::live::Live;
use super::offered::Offered;
use super::premises::{Premises, Purpose};
use super::pursuit::{Outcome, pursue};
use super::{ending, questions, resources, sessions, state, stop};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::output::harmless_lines;

const INSTRUCTIONS: &str = "\
Windlass is an agent that works in a folder: give it a whole job with `ask` and it reports when it is done. Every \
step is recorded: a run that was cut short goes on with `resume`, and `ask` with a message_id can be repeated safely. \
`list_sessions` and `read_session` show what was said and done.";

/// Requests whose parameters we read ourselves: one that arrives as an unknown request had wrong ones.
const METHODS: [&str; 8] = [
    "initialize",
    "server/discover",
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/read",
    "resources/templates/list",
    "ping",
];

/// The server of one client.
pub(super) struct Server {
    premises: Arc<Premises>,
    live: Arc<Live>,
    gone: CancellationToken,
}

impl Server {
    pub(super) fn new(premises: Arc<Premises>, live: Arc<Live>, gone: CancellationToken) -> Self {
        Self { premises, live, gone }
    }

    async fn call(
        &self,
        offered: Offered,
        request: CallToolRequestParams,
        client: &Client,
    ) -> Result<CallToolResponse, CommandError> {
        let arguments = request.arguments;
        let brought = request.request_state.map(|state| (state, request.input_responses.unwrap_or_default()));
        let result = match (offered, brought) {
            (Offered::Ask | Offered::Resume, Some((state, answers))) => {
                let errand = self.go_on(&state, &answers, client).await?;
                return self.pursued(errand, client).await;
            }
            (Offered::Ask, None) => return self.ask(arguments, client).await,
            (Offered::Resume, None) => {
                let wanted: OfSession = arguments::read(offered.name(), arguments)?;
                let errand = errand::take_up(&self.premises, &self.live, &wanted.session, client).await?;
                return self.pursued(errand, client).await;
            }
            (Offered::Stop, _) => {
                let wanted: OfSession = arguments::read(offered.name(), arguments)?;
                stop::stop(&self.premises, &self.live, &wanted.session).await?
            }
            (Offered::ListSessions, _) => {
                sessions::list(&self.premises, &arguments::read(offered.name(), arguments)?).await?
            }
            (Offered::ReadSession, _) => {
                sessions::read(&self.premises, &arguments::read(offered.name(), arguments)?).await?
            }
        };
        Ok(result.into())
    }

    async fn ask(&self, arguments: Option<JsonObject>, client: &Client) -> Result<CallToolResponse, CommandError> {
        match errand::say(&self.premises, &self.live, Ask::read(arguments)?, client).await? {
            Begun::Over(ended) => Ok(ending::result(&ended).into()),
            Begun::Underway(errand) => self.pursued(*errand, client).await,
        }
    }

    async fn pursued(&self, errand: Errand, client: &Client) -> Result<CallToolResponse, CommandError> {
        match pursue(errand, &self.live, client).await? {
            Outcome::Ended(ended) => Ok(ending::result(&ended).into()),
            Outcome::Asks { questions, visits, state } => {
                let requests: BTreeMap<String, InputRequest> = questions
                    .iter()
                    .filter_map(|asked| {
                        let params = questions::request(asked, visits)?;
                        Some((asked.question.to_string(), InputRequest::Elicitation(ElicitRequest::new(params))))
                    })
                    .collect();
                Ok(InputRequiredResult::new(Some(requests), Some(state)).into())
            }
        }
    }

    /// Goes on with a run that waited for the client's answers, in this process or in one before it.
    async fn go_on(&self, state: &str, answers: &InputResponses, client: &Client) -> Result<Errand, CommandError> {
        let (session, awaited) = state::read(state)?;
        let row = self.premises.store().row(session).await?;
        let row = row.ok_or_else(|| CommandError::new(Exit::Usage, "the session of this call is no longer there"))?;
        let mut errand = match self.live.take(session, &row.key)? {
            Some(parked) => parked,
            None => {
                let hired = self.premises.agent(Some(&row), Purpose::GoOn, client.attendance()).await?;
                errand::open(&self.live, hired, session, row.key, awaited, OpenApprovals::Answered).await?
            }
        };
        match hand_over(&mut errand, answers).await {
            Ok(()) => Ok(errand),
            Err(error) => {
                errand.end(&self.live).await;
                Err(error)
            }
        }
    }
}

/// Gives a run the answers the client brought, as far as it still waits for them.
async fn hand_over(errand: &mut Errand, answers: &InputResponses) -> Result<(), CommandError> {
    let Standing::Waiting(waiting) = errand.session.standing() else { return Ok(()) };
    for asked in waiting {
        let brought = answers.get(&asked.question.to_string()).cloned();
        if let Some(result) = brought.and_then(|value| serde_json::from_value::<ElicitResult>(value).ok()) {
            errand.answer(&asked, questions::answer(&asked, &result)).await?;
        }
    }
    Ok(())
}

fn refusal(error: &CommandError) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(harmless_lines(&error.message))])
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_resources().build();
        let us = Implementation::new("windlass", env!("CARGO_PKG_VERSION"))
            .with_title("Windlass")
            .with_description("An agent that loses nothing, and its sessions");
        ServerConfig::new(capabilities).with_server_info(us).with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(Offered::ALL.map(Offered::tool).into()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        Offered::named(name).map(Offered::tool)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(offered) = Offered::named(&request.name) else {
            let known = Offered::ALL.map(Offered::name).join(", ");
            let text = format!("there is no tool `{}`; there are: {known}", request.name);
            return Err(ErrorData::invalid_params(text, None));
        };
        let client = Client::of(&context, &self.gone);
        let response = self.call(offered, request, &client).await;
        self.premises.tell_news();
        Ok(response.unwrap_or_else(|error| refusal(&error).into()))
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        resources::list(&self.premises, request.and_then(|request| request.cursor).as_deref()).await
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(vec![resources::template()]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        Ok(resources::read(&self.premises, &request.uri).await?.into())
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        if METHODS.contains(&request.method.as_str()) {
            return Err(ErrorData::invalid_params(format!("the params of `{}` make no sense", request.method), None));
        }
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("there is no method `{}`", request.method), None))
    }
}
