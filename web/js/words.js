// Every word that the page shows, in one place. For another language add a table beside EN and name it in TABLES.
// {name} is replaced; a pair [one, other] is chosen by n.

const EN = {
  'skip.conversation': 'Skip to the conversation', 'skip.composer': 'Skip to the composer', 'skip.sessions': 'Skip to the sessions',
  'close': 'Close', 'open': 'Open', 'cancel': 'Cancel', 'menu': 'More actions', 'loading': 'Loading…', 'try_again': 'Try again', 'take_back': 'Take back',
  'time.ms': '{n}\u00a0ms', 'time.s': '{n}\u00a0s', 'time.min': '{n}:{s}\u00a0min', 'time.h': '{n}:{m}\u00a0h', 'size.bytes': ['{n} byte', '{n} bytes'],
  'ago.now': 'now', 'ago.min': '{n} min', 'ago.h': '{n} h', 'ago.d': '{n} d',

  'status.idle': 'Ready', 'status.processing': 'Thinking', 'status.tool_loop': 'Working', 'status.waiting': 'Asks you', 'status.failed': 'Failed',
  'rail.label': 'Sessions', 'rail.search': 'Search sessions', 'rail.usage': 'Usage', 'rail.settings': 'Settings', 'rail.close': 'Fold the sessions away',
  'rail.toggle': 'Show or hide the sessions', 'rail.pinned': 'Pinned', 'rail.today': 'Today', 'rail.week': 'Last 7 days', 'rail.older': 'Older', 'rail.more': 'Show more',
  'rail.archived': 'Archived sessions', 'rail.show_archived': 'Archived', 'rail.back': 'Back', 'rail.empty': 'No sessions yet. Write below what you want done.',
  'rail.no_archived': 'Nothing is archived.', 'rail.no_result': 'Nothing found for “{text}”. Try fewer words.', 'rail.clear': 'Clear the search',
  'rail.failed': 'The sessions could not be loaded.', 'session.untitled': 'Untitled',
  'title.new': 'New session', 'title.usage': 'Usage', 'title.settings': 'Settings', 'title.login': 'Access', 'title.session': 'Session', 'title.edit': 'Change the title',

  'conversation.label': 'Conversation', 'pill.new': ['{count} new', '{count} new'], 'pill.end': 'To the end',
  'message.yours': 'You wrote:', 'message.edit': 'Edit and run from here', 'message.queued': 'Waits for its turn', 'message.failed': 'Not sent', 'message.image': 'image',
  'reply.partial': 'Cut short by a stop.', 'thinking.now': 'Thinking…', 'thinking.for': 'Thought for {time}', 'thinking.tokens': ['Thought, {count} token', 'Thought, {count} tokens'], 'thinking.done': 'Thought',
  'working.model': 'Waiting for the model…', 'working.server': 'Waiting for {name}…', 'working.asking': 'Waiting for your answer', 'working.plan': 'Making a plan…', 'working.synthesis': 'Writing the answer from the steps…',
  'working.summary': 'Summarising the older part…', 'working.wrap_up': 'Wrapping up…', 'working.route': 'Looking whether tools are needed…',
  'calls.together': '{n} calls together', 'calls.took': '{n} calls together, {time}',
  'call.running': 'Running', 'call.asking': 'Waits for you', 'call.requested': 'Waits', 'call.exit': 'exit code {code}', 'call.signal': 'ended by signal {signal}', 'call.undone': 'undone',
  'call.arguments': 'Arguments', 'call.change': 'Change', 'call.result': 'Result', 'call.empty': '(no output)', 'call.repaired': 'The call was not well-formed and was repaired.', 'call.origin': 'This text came from outside; nobody here has checked it.',
  'call.all': ['Show all', 'Show all {count} lines'], 'call.cut': 'The model was shown {shown} of {total} characters.', 'call.image': 'Image: {name}',
  'outcome.ok': 'Done', 'outcome.tool_error': 'error', 'outcome.not_found': 'not found', 'outcome.infrastructure_error': 'could not be called', 'outcome.unknown': 'no such tool', 'outcome.invalid_arguments': 'wrong arguments',
  'outcome.denied': 'not allowed', 'outcome.cancelled': 'stopped', 'outcome.timed_out': 'took too long', 'outcome.interrupted': 'interrupted',

  'line.nudge': 'sent the model on: {why}', 'line.retry.retry': 'try {n} with {model} failed, trying again: {why}', 'line.retry.whole': 'try {n} failed, asking without streaming: {why}', 'line.retry.shorter': 'too long for {model}, trying with less: {why}',
  'line.retry.dialect': '{model} takes no tools, writing calls as text', 'line.retry.output': 'asking for the answer in another form', 'line.retry.plain_summary': 'no model wrote a summary, taking a plain one', 'line.retry.end': '{model} failed: {why}',
  'line.model_switch': 'went on with {model}: {why}', 'line.model_change': 'now with {model}', 'line.retried': 'run {n} tried again', 'line.resume': 'restarted, went on at record {seq}, nothing repeated',
  'line.compaction.pruned': 'near the limit: the oldest turns are no longer sent', 'line.compaction.shrunk': 'near the limit: older results are sent shortened', 'line.compaction.summarised': 'a summary is sent in place of the oldest turns',
  'line.compaction.plain': 'a plain summary is sent in place of the oldest turns', 'line.compaction.restored': 'what was left out is sent again',
  'line.withheld.failures': '{tool} is withheld: it failed in several turns in a row', 'line.withheld.cycle': '{tool} is withheld: the same calls were repeated',
  'line.cancel.person': 'stopping', 'line.cancel.deadline': 'stopping: the deadline is reached', 'line.cancel.fork': 'forked here; what was open is ended',
  'line.settled.run_again': 'call {call} was cut short by a crash: it is run again', 'line.settled.verify': 'call {call} was cut short by a crash: its tool is asked whether it took place', 'line.settled.interrupt': 'call {call} was cut short by a crash and counts as interrupted', 'line.settled.ask': 'call {call} was cut short by a crash: you are asked what now',
  'line.answer': 'you answered: {answer}', 'line.expired': 'no answer came, taken as: {answer}', 'line.step_started': 'step {n} begins', 'line.step_ended': 'step: {reason} {answer}', 'line.undo': 'files were put back',
  'line.without_servers': 'went on without the tools of {names}: not connected yet (see Settings)', 'line.input_cut': 'the server read only {read} of {counted} tokens: give the model a larger window',
  'line.imported': 'imported: nothing that was allowed before holds here', 'line.forked': 'forked at record {seq}', 'line.unknown': 'a record of a newer version ({kind}): shown here, but only that version can go on',
  'nudge.empty': 'the reply was empty', 'nudge.cut_off': 'the reply was cut off', 'nudge.incomplete': 'the reply stopped half-way', 'nudge.deflection': 'the reply handed the work back', 'nudge.no_tool_call': 'the reply called no tool', 'nudge.error_turns': 'nothing but errors', 'nudge.cycle': 'the model runs in circles',
  'nudge.turn_cap': 'the turn cap is near', 'nudge.summarise': 'empty replies in a row', 'nudge.halt': 'asked to wrap up', 'nudge.misfit': 'the answer did not fit its schema', 'nudge.withheld': 'a tool was withheld', 'nudge.context_full': 'the window is full', 'nudge.plan_left': 'the plan can’t be carried on',
  'fault.no_call': 'no call was made {names}', 'fault.not_written': 'it did not write {names}', 'fault.not_computed': 'a figure without computing it', 'fault.calls_failed': 'it answered although all its calls failed', 'fault.nothing_changed': 'it changed nothing', 'fault.untouched': 'it did nothing with {names}', 'fault.not_changed': 'it did not change {names}',
  'fault.repeated': 'the same script again', 'fault.steps_open': 'steps are open: {names}', 'fault.call_as_text': 'it wrote a call as text', 'fault.step_announced': 'it announced a step and did not take it', 'fault.handed_back': 'it handed the work back',

  'end.completed': 'Done', 'end.asked': 'It asks you something', 'end.conversed': 'Answered', 'end.unfinished': 'Not finished', 'end.cancelled': 'Stopped', 'end.turn_cap': 'Too many turns', 'end.budget_spent': 'A spending limit is reached', 'end.failed': 'Failed',
  'end.files': ['{n} file changed', '{n} files changed'], 'end.calls': ['{n} call', '{n} calls'], 'end.tokens': '{in} in, {out} out', 'end.estimated': '(estimated)', 'end.more': 'and {n} more', 'end.cut_off': 'The answer was cut off by the length limit. Ask it to go on.', 'end.dropped': ['{n} waiting message was dropped.', '{n} waiting messages were dropped.'],
  'end.missing.claimed': 'No file was changed, although the answer says so.', 'end.missing.not_done': 'No file was changed.', 'end.restored': 'Put back, because nobody asked to change it: {names}', 'end.lost': 'LOST, though nobody asked for it: {names}',
  'advice.budget': 'Raise the limit in windlass.toml, or try again to be asked.', 'advice.transient': 'It may work in a moment: try again.', 'advice.quota': 'Add credit with the provider, or switch the model.', 'advice.auth': 'Check the key of the provider and start the server again.', 'advice.bad_request': 'Check the name of the model.', 'advice.overflow': 'Compact the session, or start a new one.', 'advice.filtered': 'Word the request differently.',
  'advice.protocol': 'Try again, or use another model.', 'advice.store': 'Check the disk of the server.', 'advice.internal': 'Please report it, with the export of this session.',
  'action.new': 'New session', 'action.stop': 'Stop', 'action.retry': 'Try again', 'action.fork': 'Fork', 'action.undo': 'Undo changes', 'action.copy': 'Copy answer', 'action.export': 'Export', 'action.import': 'Import a session', 'action.compact': 'Compact the context', 'action.rename': 'Rename', 'action.pin': 'Pin', 'action.unpin': 'Unpin',
  'action.archive': 'Archive', 'action.unarchive': 'Take out of the archive', 'action.delete': 'Delete', 'action.edit': 'Edit the last message', 'action.keys': 'Show the keys', 'copy.code': 'Copy code', 'copy.command': 'Copy', 'copy.done': 'Copied',

  'composer.label': 'Message', 'composer.placeholder': 'What should be done?', 'composer.placeholder.running': 'Add something; read at the next turn', 'composer.attach': 'Attach files', 'composer.detach': 'Remove {name}', 'composer.send': 'Send', 'composer.stop': 'Stop', 'composer.stop.key': 'Stop (Esc)',
  'composer.hint': 'Enter sends, Shift-Enter breaks the line', 'composer.hint.running': 'It works on; Esc stops it', 'composer.hint.asking': 'It waits for your answer above', 'composer.too_large': '{name} is too large: at most {size} in one message.',
  'command.unknown': 'There is no command /{name}. Did you mean /{nearest}? Write //{name} to send it as text.',
  'ask.label': 'A question to you', 'ask.approval': 'May this call run?', 'ask.settlement': 'A crash cut this call short; it may have taken effect.', 'ask.elicitation': 'A tool needs an answer before it can go on.', 'ask.cycle': 'The model runs in circles. Go on?', 'ask.stuck': 'The run was resumed again and again without progress. Try once more?', 'ask.purse': 'The next model call would exceed a limit. Raise it and go on?',
  'ask.from': 'Asked by {name}.', 'ask.more': ['{n} more question waits.', '{n} more questions wait.'], 'ask.always_writes': 'For the session or always allows:', 'ask.visit': 'Open this page, then answer here:', 'ask.raise': '{limit} would become {amount}.', 'ask.edit': 'Arguments of {tool}', 'ask.not_json': 'This is not JSON: {why}', 'ask.run_edited': 'Run with these', 'ask.reason': 'Why not? The model is told (may stay empty)',
  'ask.left': '{time} left, then: {answer}', 'ask.expired': 'expired', 'ask.already_answered': 'Somebody else has answered already.', 'ask.run_is_over': 'The run is over; no answer is needed.', 'ask.not_offered': 'This answer is not offered.',
  'answer.once': 'Allow once', 'answer.session': 'For this session', 'answer.always': 'Always', 'answer.edit': 'Edit…', 'answer.no': 'No', 'answer.run_again': 'Run again', 'answer.interrupt': 'Leave it interrupted', 'answer.submit': 'Send answer', 'answer.dismiss': 'Close without an answer', 'answer.once.go_on': 'Go on', 'answer.no.go_on': 'Stop the run',
  'answered.once': 'yes', 'answered.session': 'yes, for this session', 'answered.always': 'always', 'answered.edit': 'yes, with other arguments', 'answered.no': 'no', 'answered.run_again': 'run again', 'answered.interrupt': 'leave it interrupted', 'answered.submit': 'with the form', 'answered.dismiss': 'no answer',
  'because.mode': 'Asked because the mode is “{mode}”.', 'because.rule': 'Asked because of the rule {rule}.', 'because.grant': 'Allowed by {rule}.', 'because.protected': 'It would change the protected path {path}.', 'because.outside_text': 'It would carry text from outside.', 'because.unasked': 'The request did not ask for this change.', 'because.unconfined': 'No sandbox confines this script.',
  'limit.run_cost': 'Cost of the run', 'limit.run_tokens': 'Tokens of the run', 'limit.run_time': 'Time of the run', 'limit.session_cost': 'Cost of the session', 'limit.session_tokens': 'Tokens of the session', 'limit.day_cost': 'Cost of the day', 'limit.day_tokens': 'Tokens of the day', 'limit.agent_cost': 'Cost of the agent today', 'limit.agent_tokens': 'Tokens of the agent today',

  'panel.label': 'Run', 'panel.title': 'Run', 'panel.close': 'Close the run panel', 'panel.toggle': 'Show or hide the run panel', 'panel.empty': 'Plan, calls, context, cost and files of a run appear here.',
  'plan.title': 'Plan', 'plan.open': 'to do', 'plan.doing': 'under way', 'plan.done': 'done', 'plan.failed': 'failed', 'timeline.title': 'Timeline', 'timeline.run': 'run {n}', 'timeline.model': 'model', 'timeline.asking': 'your answer',
  'context.title': 'Context', 'context.share': '{percent} % · {used} of {window}', 'context.unknown': '{used} tokens, window unknown', 'context.left': '{n} left', 'context.more': 'What fills it', 'context.part.prefix': 'Instructions', 'context.part.tools': 'Tool definitions', 'context.part.history': 'Conversation', 'context.part.retrieved': 'Passages found', 'context.part.reserve': 'Kept for the reply', 'context.part.safety': 'Safety',
  'cost.title': 'Cost', 'cost.run': 'This run', 'cost.session': 'All loaded runs', 'cost.unknown': 'price unknown', 'cost.tokens': 'Tokens', 'cost.in_out': '{in} in, {out} out', 'cost.cached': 'From the cache', 'cost.calls': 'Model calls',
  'files.title': 'Files changed', 'files.created': 'created', 'files.changed': 'changed', 'files.deleted': 'deleted', 'files.undo': 'Undo', 'files.show_call': 'Show the call', 'files.no_diff': 'No diff was kept for this change.',
  'scrubber.label': 'Walk through the records', 'scrubber.at': 'record {seq}, {time}', 'scrubber.at_end': '{seq} records', 'scrubber.fork': 'Fork here', 'scrubber.now': 'Back to now', 'scrubber.notice': 'You see the session as it stood then.',

  'connection.lost': 'Reconnecting…', 'connection.back': 'Back, nothing missed.', 'driver.other': 'Followed live from pid {pid}; stop and answers work.',
  'demo.tag': 'demo', 'demo.words': 'No model is connected. A script plays the answers.', 'demo.connect': 'Connect a model', 'connect.key': 'With a key', 'connect.key.words': 'Set the key of your provider and start the server again. Anthropic, OpenRouter and others work the same way.', 'connect.local': 'On this machine', 'connect.local.words': 'Start Ollama, LM Studio or llama.cpp. The server finds it.',
  'connect.looking': 'Looking for a model…', 'connect.found': 'Found at {url}. Start the server again to use it.', 'connect.ready': 'A model is ready.', 'new.title': 'What should be done?', 'new.words': 'Describe the job; you see every step and can stop, correct or undo it.', 'new.where': 'The agent works in {folder}. You see every step and can stop, correct or undo it.', 'new.folder': 'Works in',
  'login.title': 'This page needs a token', 'login.words': 'Open the address that “windlass serve” printed, or let this command open it for you, or paste the token.', 'login.token': 'Token', 'login.send': 'Open', 'login.wrong': 'This token is not valid. Take the one of the last start.',
  'trouble.not_found': 'There is no such session', 'trouble.not_found.what': 'It may have been deleted, or belongs to somebody else.', 'trouble.store': 'This session is damaged', 'trouble.store.what': 'Export what can still be read, then restore it from a backup. Other sessions are not affected.', 'trouble.forbidden': 'This session is not yours', 'trouble.forbidden.what': 'Ask its owner or an admin.',
  'trouble.limited': 'Too many requests', 'trouble.limited.what': 'Wait a little; nothing is lost.', 'trouble.unreachable': 'The server does not answer', 'trouble.unreachable.what': 'Start it with “windlass serve”. This page connects by itself.', 'trouble.other': 'This could not be loaded', 'trouble.other.what': 'Try again. If it stays so, look at the log of the server.',
  'error.status': 'The server answered with status {status}.', 'error.unreachable': 'The server does not answer.', 'error.unreachable.hint': 'It may be restarting; try again in a moment.', 'error.limited': 'Too many requests. Try again in {time} s.', 'error.unauthorized': 'You are signed out. Open the address that “windlass serve” printed.',
  'stop.none': 'Nothing was running.', 'stop.dropped': ['Stopped; {n} waiting message was dropped.', 'Stopped; {n} waiting messages were dropped.'], 'fork.done': 'Forked. You are in the new session.', 'compact.done': 'The older part is being summarised.', 'archive.done': 'Archived.', 'archive.undone': 'Back among the sessions.',
  'delete.title': 'Delete this session?', 'delete.words': '“{name}” and its records are deleted for good. Export it first if you may need it.', 'undo.title': 'Undo these changes?', 'undo.redo': 'Make these changes again?', 'undo.yes': 'Undo', 'undo.redo.yes': 'Make again', 'undo.restored': 'Put back:', 'undo.kept': 'Left alone:', 'undo.done': 'Done. The model is told.', 'undo.nothing': 'There is nothing to undo.',
  'notify.asking': '{name} asks you', 'notify.done': '{name} is done', 'notify.failed': '{name} failed', 'notify.asks': 'Question: {name}',
  'usage.by': 'Shown by', 'usage.day': 'Day', 'usage.model': 'Model', 'usage.session': 'Session', 'usage.runs': 'Runs', 'usage.calls': 'Model calls', 'usage.in': 'Tokens in', 'usage.out': 'Tokens out', 'usage.cost': 'Cost', 'usage.all': 'All', 'usage.none': 'Nothing was used yet.',
  'settings.page': 'This page', 'settings.theme': 'Colours', 'theme.auto': 'As the system', 'theme.light': 'Light', 'theme.dark': 'Dark', 'settings.notify': 'Notify me when a run ends or asks', 'settings.version': 'Windlass {version}, signed in as {user}', 'settings.models': 'Models', 'settings.no_models': 'No model is set. Set the key of a provider, or start Ollama, and start the server again.', 'settings.window': '{n} tokens', 'settings.in_use': 'in use',
  'settings.servers': 'Servers of tools', 'settings.no_servers': 'None is configured. Add one to windlass.toml or .mcp.json.', 'settings.tools': ['{n} tool', '{n} tools'], 'server.connected': 'connected', 'server.connecting': 'connecting…', 'server.failed': 'failed', 'server.waiting_for_consent': 'waits for consent', 'server.consent': 'The project names this server; agree to it with “windlass mcp consent” at a terminal.', 'server.log': 'End of its log',
  'settings.rules': 'Permissions', 'settings.model': 'model', 'settings.preset': 'preset', 'settings.mode': 'mode', 'settings.sandbox': 'sandbox', 'settings.always': 'Allowed always, by your answers:', 'settings.forget': 'Forget', 'settings.allow': 'Allowed by the configuration:', 'settings.deny': 'Forbidden by the configuration:', 'settings.files': 'Files read:',
  'palette.label': 'Do something', 'palette.none': 'Nothing fits. Try fewer letters.', 'palette.session': 'Open {name}', 'keys.title': 'Keys', 'key.keys': 'this list', 'key.search': 'search sessions', 'key.new': 'new session', 'key.next': 'next session', 'key.previous': 'previous session', 'key.palette': 'palette: every action', 'key.send': 'send', 'key.line': 'new line', 'key.stop': 'stop the run',
  'key.answer': 'answer the question', 'key.rail': 'fold the sessions', 'key.panel': 'fold the run panel', 'key.edit': 'edit the last message', 'key.end': 'to the end',
};

const TABLES = { en: EN };
const chosen = typeof navigator === 'undefined' ? 'en' : (navigator.language ?? 'en').split('-')[0];
const table = TABLES[chosen] ?? EN;
const plural = new Intl.PluralRules(TABLES[chosen] ? chosen : 'en');

export const language = () => (TABLES[chosen] ? chosen : 'en');
export const keys = () => Object.keys(EN);

export function t(key, values = {}) {
  const found = table[key] ?? EN[key] ?? key;
  const words = Array.isArray(found) ? found[plural.select(values.n ?? 0) === 'one' ? 0 : 1] : found;
  return words.replace(/\{(\w+)\}/g, (_, name) => String(values[name] ?? ''));
}

// Fills the words into the elements of index.html that name a key.
export function translatePage(root) {
  root.documentElement.lang = language();
  for (const element of root.querySelectorAll('[data-t]')) element.textContent = t(element.dataset.t);
  for (const element of root.querySelectorAll('[data-t-label]')) element.setAttribute('aria-label', t(element.dataset.tLabel));
}
