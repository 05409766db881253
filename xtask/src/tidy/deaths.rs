//! The README states how many kill points the tests try: the sums of the table that the kill matrices check.

use super::problem::Problem;
use crate::kill_matrices::{README, SUMS, TABLE, rows, stated, sum};
use crate::tree::Tree;

pub(super) fn problems(tree: &Tree) -> Vec<Problem> {
    let rows = rows(tree.text(TABLE).unwrap_or_default());
    let readme = tree.text(README).unwrap_or_default();
    let wrong = |(killed, before): (&str, &str)| {
        let due = sum(&rows, killed);
        let what = match stated(readme, before) {
            Some(number) if number == due => return None,
            Some(number) => format!("{before}{number}** is {due} by {TABLE}"),
            None => format!("`{before}{due}**` is not there"),
        };
        Some(Problem::in_file(README, format!("{what}; `cargo xtask kill-matrices` renews both")))
    };
    SUMS.into_iter().filter_map(wrong).collect()
}

#[cfg(test)]
mod tests {
    use super::problems;
    use crate::tree::Tree;

    #[test]
    fn the_sums_in_the_readme_are_those_of_the_table() {
        let table = "| binary | default | 57 |\n| binary | task | 3 |\n| in process | task | 1000 |\n";
        let complaints =
            |readme: &str| problems(&Tree::from([("README.md", readme), ("docs/kill-matrices.md", table)]));
        let good = "with SIGKILL in **60** ways; the loop in process in **1,000** ways";
        assert_eq!(complaints(good), []);
        assert_eq!(complaints(&good.replace("60", "61")).len(), 1);
        assert_eq!(complaints("nothing").len(), 2);
    }
}
