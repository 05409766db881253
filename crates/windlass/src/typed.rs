//! Typed tools: from a type with a declaration ([`TypedTool`]), or from a closure ([`Function`](crate::Function)). Both
//! become a [`Tool`] once they are bound to the agent's `Deps`.

use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;
use windlass_tools::{BoxFuture, CallContext, Tool, Verification};
use windlass_vocab::{Outcome, OutcomeKind, ToolName, ToolSpec};

use crate::answer::{ToolAnswer, ToolError};
use crate::declaration::{Approval, Declaration};
use crate::schema::{read_arguments, schema_of_arguments};

/// The arguments of a tool, with its declaration for the model. Derive it:
///
/// ```
/// use windlass::ToolArgs as _;
///
/// /// Says how warm it is in a city.
/// #[derive(serde::Deserialize, schemars::JsonSchema, windlass::ToolArgs)]
/// #[tool(read_only, timeout_ms = 5_000)]
/// struct HowWarm {
///     /// The city, in English.
///     city: String,
/// }
/// # let _ = HowWarm { city: String::new() }.city;
/// assert!(format!("{:?}", HowWarm::declaration()).contains("app.how_warm"));
/// ```
///
/// A tool without a description can't be offered, so this does not compile:
///
/// ```compile_fail
/// #[derive(serde::Deserialize, schemars::JsonSchema, windlass::ToolArgs)]
/// struct HowWarm {
///     city: String,
/// }
/// ```
///
/// Settings in `#[tool(…)]`: `name = "server.tool"`, `description = "…"` in place of the doc comment, one of
/// `read_only`, `idempotent` and `verifiable` (without one, a call must not be repeated blindly), `timeout_ms`,
/// `repeatable`, `ask_first`, `tags("…", "…")` (see [`Declaration::tags`]).
pub trait ToolArgs: DeserializeOwned + JsonSchema + Send + 'static {
    /// Returns the declaration of the tool.
    fn declaration() -> Declaration;
}

/// A tool as a method of its arguments. Add it to an agent with [`typed`].
///
/// ```
/// use std::sync::Arc;
/// use windlass::{CallContext, ToolError, TypedTool};
///
/// /// Says how warm it is in a city.
/// #[derive(serde::Deserialize, schemars::JsonSchema, windlass::ToolArgs)]
/// #[tool(read_only)]
/// struct HowWarm {
///     city: String,
/// }
///
/// struct Stations; // what the agent's tools work with
///
/// impl TypedTool for HowWarm {
///     type Deps = Stations;
///     type Answer = String;
///
///     async fn run(self, _stations: Arc<Stations>, _call: CallContext) -> Result<String, ToolError> {
///         Ok(format!("{}: 21 °C", self.city))
///     }
/// }
///
/// let builder = windlass::Agent::builder().deps(Stations).tool(windlass::typed::<HowWarm>());
/// ```
///
/// An agent accepts only tools that work with its `Deps`:
///
/// ```compile_fail
/// # use std::sync::Arc;
/// # use windlass::{CallContext, ToolError, TypedTool};
/// # /// Says how warm it is in a city.
/// # #[derive(serde::Deserialize, schemars::JsonSchema, windlass::ToolArgs)]
/// # struct HowWarm { city: String }
/// # struct Stations;
/// # impl TypedTool for HowWarm {
/// #     type Deps = Stations;
/// #     type Answer = String;
/// #     async fn run(self, _: Arc<Stations>, _: CallContext) -> Result<String, ToolError> { Ok(self.city) }
/// # }
/// let builder = windlass::Agent::builder().tool(windlass::typed::<HowWarm>());
/// ```
pub trait TypedTool: ToolArgs {
    /// The state it works with: the agent's `Deps`.
    type Deps: Send + Sync + 'static;
    /// The type of its answer.
    type Answer: ToolAnswer;

    /// Runs the call. `context` has the call's cancellation, its effect id and a function that reports progress.
    fn run(
        self,
        deps: Arc<Self::Deps>,
        context: CallContext,
    ) -> impl Future<Output = Result<Self::Answer, ToolError>> + Send;

    /// Returns whether a call interrupted by a crash took effect; called for `verifiable` tools only.
    fn verify(self, deps: Arc<Self::Deps>, context: CallContext) -> impl Future<Output = Verification> + Send {
        let _ = (deps, context);
        std::future::ready(Verification::Unknown)
    }
}

/// Returns the tool that `T` declares, for [`Builder::tool`](crate::Builder::tool).
#[must_use]
pub fn typed<T: TypedTool>() -> Typed<T> {
    Typed(PhantomData)
}

/// A tool declared by a type.
pub struct Typed<T>(PhantomData<fn() -> T>);

impl<T> std::fmt::Debug for Typed<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Typed").field(&std::any::type_name::<T>()).finish()
    }
}

/// Anything that an agent with these `Deps` can use as a tool: a [`Function`](crate::Function), the result of
/// [`typed`], or any other [`Tool`] in an `Arc`.
pub trait IntoTool<Deps> {
    /// Binds the tool to the agent's `Deps`.
    fn into_tool(self, deps: &Arc<Deps>) -> BoundTool;
}

/// A tool bound to its `Deps`.
#[derive(Clone)]
pub struct BoundTool {
    pub(crate) tool: Arc<dyn Tool>,
    pub(crate) name: ToolName,
    pub(crate) approval: Approval,
}

impl std::fmt::Debug for BoundTool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BoundTool").field("name", &self.name).finish_non_exhaustive()
    }
}

/// A bound tool fits any agent.
impl<Deps> IntoTool<Deps> for BoundTool {
    fn into_tool(self, _: &Arc<Deps>) -> BoundTool {
        self
    }
}

impl<Deps> IntoTool<Deps> for Arc<dyn Tool> {
    fn into_tool(self, _: &Arc<Deps>) -> BoundTool {
        let name = self.spec().name.clone();
        BoundTool { tool: self, name, approval: Approval::ByRules }
    }
}

impl<Deps, T: Tool + 'static> IntoTool<Deps> for Arc<T> {
    fn into_tool(self, deps: &Arc<Deps>) -> BoundTool {
        let tool: Arc<dyn Tool> = self;
        tool.into_tool(deps)
    }
}

impl<T: TypedTool> IntoTool<T::Deps> for Typed<T> {
    fn into_tool(self, deps: &Arc<T::Deps>) -> BoundTool {
        let (for_run, for_verify) = (Arc::clone(deps), Arc::clone(deps));
        let call = CallFunctions {
            run: Box::new(move |context, arguments: T| {
                let work = arguments.run(Arc::clone(&for_run), context);
                Box::pin(async move { work.await.into_outcome() })
            }),
            verify: Box::new(move |context, arguments: T| Box::pin(arguments.verify(Arc::clone(&for_verify), context))),
        };
        bind(&T::declaration(), call)
    }
}

/// A function that handles a call with parsed arguments.
pub(crate) type CallFunction<Args, T> = Box<dyn Fn(CallContext, Args) -> BoxFuture<'static, T> + Send + Sync>;

/// The functions that run and verify a call.
pub(crate) struct CallFunctions<Args> {
    pub(crate) run: CallFunction<Args, Outcome>,
    pub(crate) verify: CallFunction<Args, Verification>,
}

/// Builds the tool from its declaration and its functions.
pub(crate) fn bind<Args: DeserializeOwned + JsonSchema + Send + 'static>(
    declaration: &Declaration,
    call: CallFunctions<Args>,
) -> BoundTool {
    let spec = declaration.spec(schema_of_arguments::<Args>());
    let tool = Arc::new(DeclaredTool { spec, timeout: declaration.timeout, call });
    BoundTool { tool, name: declaration.name.clone(), approval: declaration.approval }
}

/// A typed tool bound to its `Deps`.
struct DeclaredTool<Args> {
    spec: ToolSpec,
    timeout: Option<Duration>,
    call: CallFunctions<Args>,
}

impl<Args: DeserializeOwned + Send + 'static> Tool for DeclaredTool<Args> {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn run(&self, context: CallContext, arguments: Value) -> BoxFuture<'static, Outcome> {
        match read_arguments(arguments) {
            Ok(arguments) => (self.call.run)(context, arguments),
            Err(problem) => Box::pin(std::future::ready(Outcome::new(OutcomeKind::InvalidArguments, problem))),
        }
    }

    fn verify(&self, context: CallContext, arguments: Value) -> BoxFuture<'static, Verification> {
        match read_arguments(arguments) {
            Ok(arguments) => (self.call.verify)(context, arguments),
            Err(_) => Box::pin(std::future::ready(Verification::Unknown)),
        }
    }

    fn timeout(&self) -> Option<Duration> {
        self.timeout
    }
}
