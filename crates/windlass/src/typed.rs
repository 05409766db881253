//! Typed tools: from a type that declares itself ([`TypedTool`]), or from a closure
//! ([`Function`](crate::Function)). Both become a [`Tool`] once they are given what they work with.

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

/// The arguments of a tool, which say what the model is told of it. Derived:
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
/// A tool that nothing is said of can't be offered, so this does not compile:
///
/// ```compile_fail
/// #[derive(serde::Deserialize, schemars::JsonSchema, windlass::ToolArgs)]
/// struct HowWarm {
///     city: String,
/// }
/// ```
///
/// Words of `#[tool(…)]`: `name = "server.tool"`, `description = "…"` in place of the doc comment, one
/// of `read_only`, `idempotent` and `verifiable` (without one, a call must not be repeated blindly),
/// `timeout_ms`, `repeatable`, `ask_first`, `tags("…", "…")` (see [`Declaration::tags`]).
pub trait ToolArgs: DeserializeOwned + JsonSchema + Send + 'static {
    /// What is said of the tool.
    fn declaration() -> Declaration;
}

/// What a tool does, as a method of its arguments. Given to an agent by [`typed`].
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
/// An agent takes only tools that work with what it has:
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
    /// What it works with: the agent's `Deps`.
    type Deps: Send + Sync + 'static;
    /// What it answers with.
    type Answer: ToolAnswer;

    /// Does it. `context` has the call's cancellation, its effect id and a way to show progress.
    fn run(
        self,
        deps: Arc<Self::Deps>,
        context: CallContext,
    ) -> impl Future<Output = Result<Self::Answer, ToolError>> + Send;

    /// Whether a call cut short by a crash took place; asked of tools that are `verifiable`.
    fn verify(self, deps: Arc<Self::Deps>, context: CallContext) -> impl Future<Output = Verification> + Send {
        let _ = (deps, context);
        std::future::ready(Verification::Unknown)
    }
}

/// The tool that `T` declares, for [`Builder::tool`](crate::Builder::tool).
#[must_use]
pub fn typed<T: TypedTool>() -> Typed<T> {
    Typed(PhantomData)
}

/// A tool that a type declares.
pub struct Typed<T>(PhantomData<fn() -> T>);

impl<T> std::fmt::Debug for Typed<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Typed").field(&std::any::type_name::<T>()).finish()
    }
}

/// Something an agent with these `Deps` can use as a tool: a [`Function`](crate::Function), what
/// [`typed`] gives, or a [`Tool`] of any other kind in an `Arc`.
pub trait IntoTool<Deps> {
    /// The tool, once it has what it works with.
    fn into_tool(self, deps: &Arc<Deps>) -> BoundTool;
}

/// A tool that has what it works with.
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

/// One that is bound already fits any agent.
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

/// What a call does with arguments of its type.
pub(crate) type CallFunction<Args, T> = Box<dyn Fn(CallContext, Args) -> BoxFuture<'static, T> + Send + Sync>;

/// What running and verifying a call do.
pub(crate) struct CallFunctions<Args> {
    pub(crate) run: CallFunction<Args, Outcome>,
    pub(crate) verify: CallFunction<Args, Verification>,
}

/// The tool that is declared and does this.
pub(crate) fn bind<Args: DeserializeOwned + JsonSchema + Send + 'static>(
    declaration: &Declaration,
    call: CallFunctions<Args>,
) -> BoundTool {
    let spec = declaration.spec(schema_of_arguments::<Args>());
    let tool = Arc::new(DeclaredTool { spec, timeout: declaration.timeout, call });
    BoundTool { tool, name: declaration.name.clone(), approval: declaration.approval }
}

/// A typed tool that has what it works with.
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
