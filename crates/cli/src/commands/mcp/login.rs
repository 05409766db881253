//! Logs in to a server over HTTP, and forgets the login.

use std::sync::Arc;

use windlass_mcp::{LoginError, Logout, ServerName};

use super::inquiry::Inquiry;
use crate::error::{CommandError, CommandResult};
use crate::exit::Exit;
use crate::streams::{print, print_notice};

pub(super) async fn login(inquiry: &Inquiry, name: &ServerName) -> CommandResult {
    let show = Arc::new(|server: &ServerName, url: &str| {
        print_notice(&format!("Open this page in a browser to log in to {server}:\n\n  {url}\n"));
    });
    let logged_in = tokio::select! {
        logged_in = inquiry.servers()?.login(name, show) => logged_in,
        _ = tokio::signal::ctrl_c() => return Err(CommandError::new(Exit::Cancelled, "the login was given up")),
    };
    logged_in?;
    print(&format!("Logged in to {name}.\n"))?;
    Ok(Exit::Done)
}

pub(super) fn logout(inquiry: &Inquiry, name: &ServerName) -> CommandResult {
    let said = match inquiry.servers()?.logout(name)? {
        Logout::Forgotten => format!("The login to {name} is forgotten.\n"),
        Logout::NotThere => format!("There was no login to {name}.\n"),
    };
    print(&said)?;
    Ok(Exit::Done)
}

impl From<LoginError> for CommandError {
    fn from(error: LoginError) -> Self {
        let exit = match &error {
            LoginError::NotHttp | LoginError::Unknown | LoginError::Config(_) => Exit::Usage,
            LoginError::Port(_)
            | LoginError::Patience
            | LoginError::Refused(_)
            | LoginError::Failed(_)
            | LoginError::Kept(_) => Exit::Failed,
        };
        Self::new(exit, error.to_string())
    }
}
