//! What users allowed for good. The table is created when a database without it is opened: versions that don't know it
//! ignore it, so the schema version was not raised for it.

use rusqlite::{Connection, OptionalExtension as _, params};
use windlass_vocab::Timestamp;

use super::counter::count_other;
use super::db::Database;
use super::job::Work;
use super::rows;
use crate::user_rules::MOST_USER_RULES;
use crate::{AllowedRule, ForgetOutcome, KeepOutcome, KeptRule, StoreError, UserRuleId};

/// `AUTOINCREMENT`, so that the number of a removed rule never comes to mean another one.
pub(super) const TABLE: &str = "
CREATE TABLE IF NOT EXISTS user_rules (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    user TEXT NOT NULL,
    folder TEXT NOT NULL,
    rule TEXT NOT NULL,
    at INTEGER NOT NULL,
    UNIQUE (user, folder, rule)
);
";

/// Keeps a rule.
pub(super) struct KeepRule(pub(super) AllowedRule);

impl Work for KeepRule {
    type Output = KeepOutcome;

    fn write(&self, db: &Database) -> Result<KeepOutcome, StoreError> {
        let AllowedRule { user, folder, rule, at } = &self.0;
        let most = i64::try_from(MOST_USER_RULES).unwrap_or(i64::MAX);
        count_other(db, || {
            db.execute(
                "INSERT OR IGNORE INTO user_rules (user, folder, rule, at) SELECT ?1, ?2, ?3, ?4
                 WHERE (SELECT count(*) FROM user_rules WHERE user = ?1) < ?5",
                params![user, folder, rule, at.0, most],
            )
        })?;
        let mut kept = db
            .connection
            .prepare_cached("SELECT id FROM user_rules WHERE user = ?1 AND folder = ?2 AND rule = ?3")
            .map_err(db.fault())?;
        let id = kept.query_row([user, folder, rule], |row| rows::natural(row, 0)).optional().map_err(db.fault())?;
        Ok(id.map_or(KeepOutcome::TooMany, |id| KeepOutcome::Kept(UserRuleId(id))))
    }

    fn bytes(&self) -> usize {
        self.0.rule.len()
    }
}

/// Removes a rule of a user.
pub(super) struct ForgetRule(pub(super) String, pub(super) UserRuleId);

impl Work for ForgetRule {
    type Output = ForgetOutcome;

    fn write(&self, db: &Database) -> Result<ForgetOutcome, StoreError> {
        let Self(user, id) = self;
        let sql = "DELETE FROM user_rules WHERE user = ?1 AND id = ?2";
        let removed = count_other(db, || db.execute(sql, params![user, rows::integer(id.0)]))?;
        Ok(if removed == 0 { ForgetOutcome::NotThere } else { ForgetOutcome::Forgotten })
    }

    fn bytes(&self) -> usize {
        0
    }
}

/// The rules of a user, the oldest first. An older database that is only read has no table of them.
pub(super) fn of_user(connection: &Connection, user: &str) -> rusqlite::Result<Vec<KeptRule>> {
    let mut exists = connection.prepare_cached("SELECT 1 FROM sqlite_schema WHERE name = 'user_rules'")?;
    if !exists.exists([])? {
        return Ok(Vec::new());
    }
    connection
        .prepare_cached("SELECT id, user, folder, rule, at FROM user_rules WHERE user = ?1 ORDER BY id")?
        .query_map([user], |row| {
            let allowed =
                AllowedRule { user: row.get(1)?, folder: row.get(2)?, rule: row.get(3)?, at: Timestamp(row.get(4)?) };
            Ok(KeptRule { id: UserRuleId(rows::natural(row, 0)?), allowed })
        })?
        .collect()
}
