//! Reused connections, and servers that close them without notice.

use std::sync::atomic::Ordering;

use windlass_vocab::FailureClass;

use super::network::{END, STREAMED, TEXT, answer, call, chunk, ignore, model, streaming_head};
use super::server::{Act, Server};

const BODY: &str = r#"{"choices":[{"message":{"content":"Hi"},"finish_reason":"stop"}]}"#;

fn whole() -> Act {
    Act::Say(vec![answer("200 OK", "", BODY)])
}

/// Makes this many calls; returns how many requests the server received.
async fn calls(server: &mut Server, count: usize) -> usize {
    let model = model(&server.base_url());
    for number in 0..count {
        let reply = call(&model, &STREAMED, ignore()).await;
        assert_eq!(reply.map(|reply| reply.text()).as_deref(), Ok("Hi"), "call {number}");
    }
    std::iter::from_fn(|| server.requests.try_recv().ok()).count()
}

// proves M3: a reused connection that ends without an answer is no failure of the model
#[tokio::test]
async fn a_reused_connection_that_ends_without_a_byte_of_an_answer_is_replaced_at_once() {
    for end in [Act::Close, Act::Reset] {
        let mut server = Server::start(vec![whole(), end, whole()]).await;
        let model = model(&server.base_url());
        for _ in 0..2 {
            assert_eq!(call(&model, &STREAMED, ignore()).await.unwrap().text(), "Hi");
        }
        let [_, lost, again] = std::array::from_fn(|_| server.requests.try_recv().unwrap());
        assert!(lost == again && lost.contains("hello"), "the same request goes out again: {again}");
        assert_eq!(server.connections.load(Ordering::SeqCst), 2);
    }
}

// proves M3
#[tokio::test]
async fn a_new_connection_that_ends_without_an_answer_is_a_failure() {
    for acts in [vec![Act::Close, whole()], vec![whole(), Act::Close, Act::Close, whole()]] {
        let calls = acts.len() / 2;
        let server = Server::start(acts).await;
        let model = model(&server.base_url());
        for _ in 1..calls {
            assert_eq!(call(&model, &STREAMED, ignore()).await.unwrap().text(), "Hi");
        }
        let failure = call(&model, &STREAMED, ignore()).await.unwrap_err();
        assert_eq!((failure.class, failure.first_byte), (FailureClass::Transient, false), "{failure}");
    }
}

// proves M3
#[tokio::test]
async fn a_reused_connection_that_ends_in_the_middle_of_the_head_is_a_failure() {
    let mut server = Server::start(vec![whole(), Act::SayAndClose(b"HTTP/1.1 200 O".to_vec()), whole()]).await;
    let model = model(&server.base_url());
    assert_eq!(call(&model, &STREAMED, ignore()).await.unwrap().text(), "Hi");
    let failure = call(&model, &STREAMED, ignore()).await.unwrap_err();
    assert_eq!(failure.class, FailureClass::Transient, "{failure}");
    assert_eq!(std::iter::from_fn(|| server.requests.try_recv().ok()).count(), 2);
}

// proves M3: like llama.cpp's server, which closes without a header that announces it
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_closes_after_every_stream_costs_no_failure_in_200_calls() {
    const CALLS: usize = 200;
    let stream = [streaming_head(), chunk(TEXT), chunk(END), b"0\r\n\r\n".to_vec()].concat();
    let mut server = Server::start(vec![Act::SayAndCloseSoon(stream); CALLS]).await;
    assert_eq!(calls(&mut server, CALLS).await, CALLS);
}

// proves M3: a server that closes after every answer is remembered
#[tokio::test]
async fn connections_to_a_server_that_closes_them_after_one_answer_are_soon_not_kept() {
    // The server reads and closes a reused connection, so every reuse costs it a request.
    const CALLS: usize = 20;
    let acts =
        [whole(), Act::Close, whole(), Act::Close]
            .into_iter()
            .chain(vec![Act::SayAndHang(answer("200 OK", "", BODY)); CALLS]);
    let mut server = Server::start(acts.collect()).await;
    assert_eq!(calls(&mut server, CALLS).await, CALLS + 2);
}
