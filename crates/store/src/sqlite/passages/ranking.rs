//! Finds the places that have the words of a message.

use rusqlite::{OptionalExtension as _, params};

use super::search_words::{SearchWord, SearchWords};
use super::{PassageIndex, PassagePlace, indexed_file};
use crate::StoreError;

/// How many places are ranked.
const CANDIDATES: i64 = 40;
/// A word that occurs in more places than this, and in more than an eighth of all, tells nothing.
const COMMON: u64 = 8;

impl PassageIndex {
    /// Returns the places that fit best, best first. A place must have several of the words, so that there is none for
    /// most small talk.
    pub fn find(&self, wanted: &SearchWords, limit: usize) -> Result<Vec<PassagePlace>, StoreError> {
        self.ranked(wanted, limit).map_err(self.fault())
    }

    fn ranked(&self, wanted: &SearchWords, limit: usize) -> rusqlite::Result<Vec<PassagePlace>> {
        let total: u64 = self.number("SELECT count(*) FROM passages", params![])?;
        let common = COMMON.max(total / 8);
        let mut telling = Vec::new();
        for word in wanted.words() {
            // Counting stops where the word is known to be common.
            let sql = "SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH ?1 LIMIT ?2)";
            let places = self.number(sql, params![word.phrase(), (common + 1).cast_signed()])?;
            if (1..=common).contains(&places) {
                telling.push(word);
            }
        }
        if telling.iter().map(|word| word.weight()).sum::<u32>() < wanted.least_weight() {
            return Ok(Vec::new());
        }
        let mut found = Vec::new();
        for (passage, score) in self.candidates(&telling)? {
            if self.weight_in(passage, &telling)? >= wanted.least_weight() {
                found.extend(self.place(passage, score)?);
            }
            if found.len() >= limit {
                break;
            }
        }
        Ok(found)
    }

    /// Returns the passages with any of these words, best first. A word in the path counts more than one in the text.
    fn candidates(&self, words: &[&SearchWord]) -> rusqlite::Result<Vec<(i64, f64)>> {
        let query = words.iter().map(|word| word.phrase()).collect::<Vec<_>>().join(" OR ");
        let sql =
            "SELECT rowid, bm25(words, 4.0, 1.0) AS score FROM words WHERE words MATCH ?1 ORDER BY score LIMIT ?2";
        let mut statement = self.connection.prepare_cached(sql)?;
        let rows = statement.query_map(params![query, CANDIDATES], |row| Ok((row.get(0)?, row.get(1)?)))?;
        rows.map(|row| row.map(|(passage, score): (i64, f64)| (passage, -score))).collect()
    }

    /// Returns the weight of those words that are in the passage.
    fn weight_in(&self, passage: i64, words: &[&SearchWord]) -> rusqlite::Result<u32> {
        let mut weight = 0;
        for word in words {
            let sql = "SELECT count(*) FROM words WHERE words MATCH ?1 AND rowid = ?2";
            if self.number(sql, params![word.phrase(), passage])? > 0 {
                weight += word.weight();
            }
        }
        Ok(weight)
    }

    fn place(&self, passage: i64, score: f64) -> rusqlite::Result<Option<PassagePlace>> {
        let sql = "SELECT path, size, modified, inode, first_line, last_line
            FROM passages JOIN files ON files.id = file WHERE passages.id = ?1";
        let mut statement = self.connection.prepare_cached(sql)?;
        let place = statement.query_row(params![passage], |row| {
            let (path, stamp) = indexed_file(row)?;
            Ok(PassagePlace { path, first_line: row.get(4)?, last_line: row.get(5)?, stamp, score })
        });
        place.optional()
    }

    fn number(&self, sql: &str, params: impl rusqlite::Params) -> rusqlite::Result<u64> {
        self.connection.prepare_cached(sql)?.query_row(params, |row| row.get::<_, i64>(0)).map(i64::cast_unsigned)
    }
}
