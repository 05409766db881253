//! Approvals: a tool that asks first, and a handler that asks the person at the keyboard. The person's reason for a
//! "no" goes to the model.

use std::io::Write as _;

use schemars::JsonSchema;
use windlass::{Builder, Function, QuestionAnswer, QuestionAsked, QuestionOption};

#[derive(serde::Deserialize, JsonSchema)]
struct Letter {
    to: String,
    text: String,
}

/// Prints the preview; takes `y` for yes, and everything else as the reason of a no.
async fn ask(question: QuestionAsked) -> QuestionAnswer {
    let line = tokio::task::spawn_blocking(move || {
        let preview = question.preview.map(|preview| preview.title).unwrap_or_default();
        print!("{preview}\nallow it? ");
        let mut line = String::new();
        std::io::stdout().flush().and_then(|()| std::io::stdin().read_line(&mut line)).map(|_| line)
    });
    match line.await {
        Ok(Ok(line)) if line.trim() == "y" => QuestionOption::Once.into(),
        Ok(Ok(line)) => {
            let reason = Some(line.trim().to_owned()).filter(|reason| !reason.is_empty());
            QuestionAnswer { reason, ..QuestionOption::No.into() }
        }
        Ok(Err(_)) | Err(_) => QuestionOption::No.into(),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let send = Function::plain("send", "Sends a letter.", |letter: Letter| async move {
        format!("sent to {}: {}", letter.to, letter.text)
    });
    let agent = Builder::from_env()?.tool(send.ask_first()).on_question(ask).build()?;
    println!("{}", agent.run("Write to Ada and to Bob that the ship is in.").await?);
    Ok(())
}
