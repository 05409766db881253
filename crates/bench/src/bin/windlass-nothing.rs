//! The floor of every start: a program that prints a line and exits.

fn main() {
    println!("› windlass-nothing");
}
