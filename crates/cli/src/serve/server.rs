//! Handles the MCP requests.

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
use windlass_runtime::{OpenApprovals, SessionActivity};
use windlass_setup::session_agent::AgentPurpose;

use super::arguments::{self, AskArguments, SessionArguments};
use super::awaited_run::{self, AskOutcome, AwaitedRun};
use super::client::Client;
use super::follow_run::{FollowResult, follow_to_result};
use super::open_sessions::OpenSessions;
use super::served_tools::ServedTool;
use super::server_context::ServerContext;
use super::{ending, questions, resources, sessions, state, stop};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::output::harmless_lines;

const INSTRUCTIONS: &str = "\
Windlass is an agent that works in a folder: give it a whole job with `ask` and it reports when it is done. Every \
step is recorded: a run that was cut short goes on with `resume`, and `ask` with a message_id can be repeated safely. \
`list_sessions` and `read_session` show what was said and done.";

/// Requests that rmcp parses; one of these that arrives as an unknown request had wrong parameters.
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

/// The MCP server of one client.
pub(super) struct AgentServer {
    server_context: Arc<ServerContext>,
    open_sessions: Arc<OpenSessions>,
    gone: CancellationToken,
}

impl AgentServer {
    pub(super) fn new(
        server_context: Arc<ServerContext>,
        open_sessions: Arc<OpenSessions>,
        gone: CancellationToken,
    ) -> Self {
        Self { server_context, open_sessions, gone }
    }

    async fn call(
        &self,
        offered: ServedTool,
        request: CallToolRequestParams,
        client: &Client,
    ) -> Result<CallToolResponse, CommandError> {
        let arguments = request.arguments;
        let brought = request.request_state.map(|state| (state, request.input_responses.unwrap_or_default()));
        let result = match (offered, brought) {
            (ServedTool::Ask | ServedTool::Resume, Some((state, answers))) => {
                let awaited_run = self.go_on(&state, &answers, client).await?;
                return self.follow_to_response(awaited_run, client).await;
            }
            (ServedTool::Ask, None) => return self.ask(arguments, client).await,
            (ServedTool::Resume, None) => {
                let wanted: SessionArguments = arguments::read(offered.name(), arguments)?;
                let awaited_run =
                    awaited_run::take_up(&self.server_context, &self.open_sessions, &wanted.session, client).await?;
                return self.follow_to_response(awaited_run, client).await;
            }
            (ServedTool::Stop, _) => {
                let wanted: SessionArguments = arguments::read(offered.name(), arguments)?;
                stop::stop(&self.server_context, &self.open_sessions, &wanted.session).await?
            }
            (ServedTool::ListSessions, _) => {
                sessions::list(&self.server_context, &arguments::read(offered.name(), arguments)?).await?
            }
            (ServedTool::ReadSession, _) => {
                sessions::read(&self.server_context, &arguments::read(offered.name(), arguments)?).await?
            }
        };
        Ok(result.into())
    }

    async fn ask(&self, arguments: Option<JsonObject>, client: &Client) -> Result<CallToolResponse, CommandError> {
        match awaited_run::send_message(
            &self.server_context,
            &self.open_sessions,
            AskArguments::read(arguments)?,
            client,
        )
        .await?
        {
            AskOutcome::Over(ended) => Ok(ending::result(&ended).into()),
            AskOutcome::Running(awaited_run) => self.follow_to_response(*awaited_run, client).await,
        }
    }

    async fn follow_to_response(
        &self,
        awaited_run: AwaitedRun,
        client: &Client,
    ) -> Result<CallToolResponse, CommandError> {
        match follow_to_result(awaited_run, &self.open_sessions, client).await? {
            FollowResult::Ended(ended) => Ok(ending::result(&ended).into()),
            FollowResult::Asks { questions, delivery, state } => {
                let requests: BTreeMap<String, InputRequest> = questions
                    .iter()
                    .filter_map(|asked| {
                        let params = questions::request(asked, delivery)?;
                        Some((asked.question.to_string(), InputRequest::Elicitation(ElicitRequest::new(params))))
                    })
                    .collect();
                Ok(InputRequiredResult::new(Some(requests), Some(state)).into())
            }
        }
    }

    /// Continues a run that waited for the client's answers, in this process or an earlier one.
    async fn go_on(&self, state: &str, answers: &InputResponses, client: &Client) -> Result<AwaitedRun, CommandError> {
        let (session, awaited) = state::read(state)?;
        let row = self.server_context.store().row(session).await?;
        let row = row.ok_or_else(|| CommandError::new(Exit::Usage, "the session of this call is no longer there"))?;
        let mut awaited_run = match self.open_sessions.take(session, &row.key)? {
            Some(parked) => parked,
            None => {
                let built_agent =
                    self.server_context.agent(Some(&row), AgentPurpose::GoOn, client.attendance()).await?;
                awaited_run::open(&self.open_sessions, built_agent, session, row.key, awaited, OpenApprovals::Answered)
                    .await?
            }
        };
        match hand_over(&mut awaited_run, answers).await {
            Ok(()) => Ok(awaited_run),
            Err(error) => {
                awaited_run.end(&self.open_sessions).await;
                Err(error)
            }
        }
    }
}

/// Gives a run the client's answers, as far as it still waits for them.
async fn hand_over(awaited_run: &mut AwaitedRun, answers: &InputResponses) -> Result<(), CommandError> {
    let SessionActivity::Waiting(waiting) = awaited_run.session.activity() else { return Ok(()) };
    for asked in waiting {
        let brought = answers.get(&asked.question.to_string()).cloned();
        if let Some(result) = brought.and_then(|value| serde_json::from_value::<ElicitResult>(value).ok()) {
            awaited_run.answer(&asked, questions::answer(&asked, &result)).await?;
        }
    }
    Ok(())
}

fn refusal(error: &CommandError) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(harmless_lines(&error.message))])
}

impl ServerHandler for AgentServer {
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
        Ok(ListToolsResult::with_all_items(ServedTool::ALL.map(ServedTool::tool).into()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        ServedTool::named(name).map(ServedTool::tool)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(offered) = ServedTool::named(&request.name) else {
            let known = ServedTool::ALL.map(ServedTool::name).join(", ");
            let text = format!("there is no tool `{}`; there are: {known}", request.name);
            return Err(ErrorData::invalid_params(text, None));
        };
        let client = Client::of(&context, &self.gone);
        let response = self.call(offered, request, &client).await;
        self.server_context.print_news();
        Ok(response.unwrap_or_else(|error| refusal(&error).into()))
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        resources::list(&self.server_context, request.and_then(|request| request.cursor).as_deref()).await
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
        Ok(resources::read(&self.server_context, &request.uri).await?.into())
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
