//! The floor of every start: a program that prints a line and ends.

fn main() {
    println!("› windlass-nothing");
}
