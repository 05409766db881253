//! English.

use super::{Language, Phrases};

pub(super) static ENGLISH: Language = Language {
    change_verbs: Phrases::new(
        "change; replace; rename; move; delete; remove; update; edit; fix; append; add; insert; set; correct; \
        bump; increment; increase; decrease; copy; merge; split; refactor; modify; uncomment; reformat; erase; \
        swap; raise; lower; switch; repair; rewrite; patch; drop; tick; undo; revert; restore",
    ),
    make_verbs: Phrases::new(
        "write; create; make; save; generate; produce; put; store; record; collect; export; dump; build; draft; \
        prepare; extract; convert; sort; list; translate; summarize; summarise; count; compute; calculate; \
        merge; gather; note",
    ),
    write_verbs: Phrases::new("write; save; put; store; record; collect; export; dump; extract; note; gather"),
    move_verbs: Phrases::new("rename; move; copy"),
    copy_verbs: Phrases::new("copy; split; merge"),
    delete_verbs: Phrases::new("delete; remove; erase"),
    elsewhere_verbs: Phrases::new("fix; repair; patch; refactor; restore; revert; undo; rename"),
    altering_verbs: Phrases::new(
        "put; make; sort; merge; give; adjust; clean; tidy; organise; organize; keep; take; get; strip; shorten; archive; \
        rearrange; improve; bring; throw",
    ),
    adding_verbs: Phrases::new("add; append; insert; copy; implement"),
    ambiguous_verbs: Phrases::new("set; merge; split; copy; restore; undo; revert; switch"),
    unclear_phrases: Phrases::new(
        "what is not needed; what isn't needed; that is not needed; that isn't needed; that are not needed; \
        nobody needs; no one needs; what i don't need; what we don't need; i don't use; we don't use; \
        i do not use; use any more; needed any more; longer needed; unneeded; unimportant; not important; \
        what matters; the essentials; good ones; best ones; bad ones; bad entries; wrong version; \
        wrong entries; wrong ones; something better; better name; better names; better place; better day; \
        better folder; make it better; nicer; neater; tidier; right place; right places; right folder; \
        proper place; where it belongs; where they belong; belong together; right value; right number; \
        old ones; old stuff; the old files; previous version; earlier version; the way it was; back as it was; \
        to how it was; how it was before; it was before; it like before; last change; last changes; undo what; \
        undo that; undo it; undo this; undo everything; undo the changes; revert it; revert that; revert this; \
        the way we discussed; as discussed; we agreed; as agreed; you know what; clean this up; clean it up; \
        clean up this; clean up here; clean up the folder; tidy up; tidy this; tidy it; sort this out; \
        sort it out; sort these out; some of it; unwanted files; outdated files; obsolete files; \
        unnecessary files; useless files; junk; clutter; change it back; put it back; set it back; \
        everything back",
    ),
    text_words: Phrases::new(
        "line; lines; newline; newlines; column; columns; row; rows; header; headers; heading; headings; comment; comments; \
        tab; tabs; space; spaces; whitespace; blank; bracket; brackets; brace; braces; parenthesis; parentheses; quote; \
        quotes; apostrophe; apostrophes; semicolon; semicolons; comma; commas; full stop; dash; dashes; hyphen; hyphens; \
        underscore; underscores; exclamation marks; question marks; link; links; umlaut; umlauts; bullet; bullets; letter; \
        letters; character; characters; digit; digits; numbered; renumber; capital; capitals; upper case; uppercase; \
        lower case; lowercase; indent; indentation; syntax; duplicate; duplicates; empty; ending; endings; extension; \
        extensions; subfolder; subfolders; flatten; word; words; sentence; sentences; paragraph; paragraphs; alphabetically; \
        alphabetical; ascending; descending; oldest; newest; older; newer; largest; smallest; longest; shortest; latest; \
        negative; double; percent; total; totals; sum; test; tests; build; crash; bug; bugs; error; errors; code; script; \
        scripts; function; functions; program; programs; typo; typos; spelling; grammar; punctuation; mistake; mistakes; \
        misspelt; misspelled; type hints; warnings; imports; unused; case; kebab-case; snake_case; python; javascript; \
        typescript; rust; java; markdown; html; css; json; csv; yaml; xml; sql; pdf; text files; images; pictures; photos; \
        tables; lists; licence; license; folder; folders; directory; directories",
    ),
    file_verbs: Phrases::new("create; make; write; save"),
    other_meanings: Phrases::new(
        "add up; add together; add the numbers; add all numbers; add all the numbers; add the values; \
        add the amounts; add the prices; update me; update us; move on; set out; correct me; \
        drop me; note that; make sure; make sense",
    ),
    lead_ins: Phrases::new(
        "please; then; now; also; next; finally; just; kindly; first; second; third; lastly; afterwards; hi; \
        hello; hey; ok; okay; so; and; but; can you; could you; would you; will you; can you please; \
        could you please; would you please; i want you to; i need you to; i would like you to; i'd like you to; \
        you should; you must; your task is to; help me to; help me; let's; go ahead and; make sure to; try to; \
        do; instead; task; todo",
    ),
    addresses: Phrases::new("you"),
    joins: Phrases::new("and; then; or; also; please; finally; afterwards"),
    before_names: Phrases::new("the; file; files; both; my"),
    pronouns: Phrases::new("it; them; this; that; these; those; both; what"),
    prepositions: Phrases::new("in; inside; within; at; to; from; for; under; on"),
    list_words: Phrases::new("and; as; well; in; also; &"),
    target_before: Phrases::new(
        "file; called; named; to; into; as; in; at; a; an; the; new; script; document; page; module",
    ),
    target_into: Phrases::new("to; into; as"),
    replace_verbs: Phrases::new("replace; change; rename; becomes; become"),
    replaced_by: Phrases::new("to; by; with; into; becomes; become"),
    named_things: Phrases::new(
        "function; method; class; module; variable; constant; parameter; argument; field; key; column; setting; option; user",
    ),
    work_nouns: Phrases::new("script; program; code; file; list; table; page; bug; error; mistake; typo; problem"),
    demands: Phrases::new(
        "has to be; have to be; must be; should be; needs to be; need to be; becomes; become; should become; has to become; \
        must become; should say; has to say; must say; needs to say; should read; should have; must have; should contain; \
        must contain",
    ),
    renamed_by: Phrases::new("becomes; become"),
    stays: Phrases::new(
        "stay; stays; remain; remains; untouched; unchanged; left alone; as it is; as they are; hands off; keep away",
    ),
    file_nouns: Phrases::new(
        "file; files; folder; folders; directory; directories; subfolder; readme; changelog; makefile",
    ),
    relatives: Phrases::new("that; which; who; to; from; about; of; for; using; by"),
    question_words: Phrases::new("what; which; who; whose; where; why; how; what's; who's; where's"),
    weak_question_words: Phrases::new(
        "is; are; was; were; does; do; did; has; have; when; can; could; will; would; should; am; isn't; aren't; \
        doesn't; any",
    ),
    common_words: Phrases::new(
        "the; of; in; on; at; to; it; its; and; or; for; an; my; me; you; we; us; our; not; no; be; as; by; if; so; up; out; \
        old; new; all; one; two; sum; total; average; count; number; result; answer; say; use; get; got; let; many; much; this; that; these; \
        those; there; with; from; into; about; your; mine; ours; they; them; their; been; being; some; more; most; than; then; tell; please; give; know; mean; today; hello; thank; thanks; also; just; \
        only; very; each; every; other; such; like; need; want; make; made; take; come; goes; find; call; called; name; \
        word; words; long; short; good; best; first; last; next; over; under; between; after; before",
    ),
    about_words: Phrases::new(
        "plural of; opposite of; synonym of; synonym for; another word for; do you spell; do i spell; do you pronounce",
    ),
    own_words: Phrases::new("we; our; ours; my; mine; did i; do i still; have i; am i; was i"),
    word_questions: Phrases::new("what does * mean; what does * stand for"),
    explaining_verbs: Phrases::new("means; stands; is"),
    advice: Phrases::new(
        "how do i; how can i; how to; how would i; how should i; how does one; how do you; should i; \
        what command; which command; what does it mean; what is the difference; what's the difference; \
        why do people; what are the advantages; is it possible; is it safe; is it a good idea; can i; \
        what is the best; what's the best; what happens if; show me how to; show me how i; tell me how to; tell me how i; explain how to; what would",
    ),
    talk: Phrases::new(
        "hello; hi; hey; good morning; good afternoon; good evening; good night; thanks; thank you; bye; goodbye; say; tell me; \
        greet; sing; wish me; give me a joke; write me a poem; write a poem; write a haiku; write me a haiku; lol; haha; sorry; knock knock; happy birthday; congratulations; i feel; i'm so; \
        i am so",
    ),
    places: Phrases::new(
        "this folder; this directory; current folder; current directory; the folder; the directory; here; workspace; this project; the project; this repo; this repository; the repo; the repository; the files; \
        these files; my files; all files; every file; each file; the tests; the test suite; the script",
    ),
    in_answer: Phrases::new(
        "tell me here; tell us here; answer here; reply here; say it here; write it here; just here",
    ),
    exclusions: Phrases::new("not; don't; except; leave; without; but; unless; never; ignore; skip; keep"),
    negations_behind: Phrases::new(""),
    negations: Phrases::new("not; don't; never"),
    exclusion_fillers: Phrases::new(
        "touch; touching; changing; editing; modifying; altering; deleting; removing; renaming; moving; anything; any; \
        everything; of; with; a; our; or; either; ever; ones",
    ),
    inclusions: Phrases::new(
        "don't forget; do not forget; not only; don't miss; do not skip; don't skip; never forget",
    ),
    clause_words: Phrases::new("but; except"),
    listing_words: Phrases::new(
        "how many files; which files; what files; largest; biggest; larger; bigger; smallest; smaller; size; \
        exist; exists; newest; oldest; bytes",
    ),
    computing_words: Phrases::new(
        "how many; how often; total; totals; sum; altogether; average; median; has the most; have the most; \
        had the most; most often; fewest; highest; lowest; longest; shortest; count; number of; more than; fewer than; \
        percent; percentage",
    ),
    files_words: Phrases::new("files"),
    all_words: Phrases::new("all; every; each"),
    limits: Phrases::new("that; which; whose; older; newer; larger; smaller; with"),
    everything_words: Phrases::new("everything"),
    several_words: Phrases::new(
        "files; folders; other; others; rest; remaining; pages; scripts; documents; listed; both",
    ),
    everywhere_words: Phrases::new(
        "everywhere; wherever; everything; project; codebase; repository; repo; workspace; callers; uses; usages; \
        imports; references; tests",
    ),
    moving_words: Phrases::new(
        "move; moves; moved; moving; rename; renames; renamed; renaming; name; names; named; called; archive; archives; \
        filename; filenames; file name; prefix; suffix; replace; \
        into; folder; folders; subfolder; subfolders; directory; directories; ending; endings; extension; extensions; \
        sort; organise; organize; tidy; put; swap; transfer; relocate; backup; backups; back up; place; merge; split",
    ),
    replacing_words: Phrases::new(
        "move; moves; moved; moving; rename; renames; renamed; renaming; convert; converts; converted; converting; merge; \
        merges; merged; merging; combine; combined; split; splits; swap; archive; zip; compress",
    ),
    deleting_words: Phrases::new(
        "delete; deletes; deleted; deleting; deletion; remove; removes; removed; removing; erase; clean; cleanup; rid; \
        clear; drop; purge; wipe; trash; discard; destroy; unneeded; needed; unused; obsolete; gone; away; merge; \
        tidy; empty",
    ),
    grounds: Phrases::new(
        "already; no change; no changes; nothing to; not found; does not exist; doesn't exist; do not exist; \
        don't exist; no such; could not; couldn't; cannot; can't; unable; denied; refused; not allowed; failed; \
        failure; error; not possible; isn't possible; there is no; there are no; there's no; there was no; \
        there were no; not exist; is missing; are missing; did not find; didn't find; not permitted; unclear; \
        ambiguous; no match; no matches; not change; left alone; not present; is empty; are empty; was empty; \
        timed out; did not; didn't; need your approval; none of; does not contain; doesn't contain; \
        does not mention; has no; have no; before i; which one; which of",
    ),
    refusals: Phrases::new(
        "i can't help; i cannot help; i won't; i will not; i'm not going to; i can't do that; i cannot do that; \
        i can't assist; i cannot assist; i'm not able to help; i must decline; i'd rather not; not comfortable; \
        would be dangerous; would be destructive; is not safe; isn't safe; against my",
    ),
    no_access: Phrases::new(
        "don't have access to your; do not have access to your; don't have direct access; no direct access; \
        do not have direct access; can't access your; cannot access your; can't access files; \
        cannot access files; can't directly access; cannot directly access; unable to access your; \
        unable to access files; unable to directly access; unable to directly; can't open files; \
        cannot open files; can't read files; cannot read files; can't see your files; cannot see your files; \
        don't have the ability to; do not have the ability to; don't have the capability; \
        do not have the capability; as an ai; as a language model; as a text-based; i can't interact with; \
        i cannot interact with; can't execute; cannot execute; can't run commands; cannot run commands; \
        can't modify files; cannot modify files; don't have access to the file; do not have access to the file; \
        provide the contents; provide the content; share the contents; share the content; paste the contents; \
        paste the content; provide me with the content; provide the text of; upload the file; \
        can't directly modify; cannot directly modify; can't directly edit; cannot directly edit; \
        can't perform; cannot perform file",
    ),
    hands_back: Phrases::new(
        "you can run; you can use the following; run the following; use the following command; \
        here's how you can; here is how you can; here's how to; here is how to; follow these steps; \
        you can follow; you would need to; you'll need to; you will need to; you need to; you should run; \
        you can use the; you can do this; you can do that; you can achieve; you can open; you can create; \
        you can edit; you can manually; you could use; you could run; execute the following; run this command; \
        in your terminal; open the file; open your terminal; open a terminal; here are the steps; steps to; \
        to do this, you; to do so, you; following python script; following script; following bash; \
        python script that; save this; copy and paste; make sure to replace; replace the; using a text editor; \
        your preferred text editor; you may use; can be done by",
    ),
    asks_leave: Phrases::new(
        "would you like me to; shall i; do you want me to; should i go ahead; should i proceed; may i; \
        would you like to; do you want to proceed; want me to; let me know if you want me to; \
        should i continue; can i proceed; are you ready",
    ),
    announces: Phrases::new(
        "i will now; i'll now; now i will; now i'll; now, i will; now, i'll; next, i will; next, i'll; \
        next i will; next i'll; let me now; now let me; now, let me; let me start; i will start; i'll start; \
        i am going to; i'm going to; i will begin; i'll begin; i will proceed; i'll proceed; let's start; \
        let us start; let me first; first, let me; first, i will; first, i'll; first i will; let me proceed; \
        i need to first; first, i need to; first, we need to; first, let's; now, let's; now let's; next, let's",
    ),
    may_announce: Phrases::new(
        "let me; i will; i'll; let's; let us; i need to; we need to; we will; we'll; to do this, i; \
        to do this, we; i'm now; i am now; i would; i can",
    ),
    step_verbs: Phrases::new(
        "read; open; check; look; list; search; run; create; write; update; edit; change; rename; move; delete; \
        use; call; start; begin; proceed; fetch; find; append; add; replace; modify; save; execute; inspect; \
        examine; gather; review; fix; remove; copy; extract; try; do; view; see; get; continue; count; \
        calculate; verify; make",
    ),
    closings: Phrases::new(
        "let me know; feel free; happy to; glad to; if you need; if you'd like; if you want; if you would; \
        keep in mind; hope this helps; anything else; leave it; leave that; in the future; be happy",
    ),
    claims: Phrases::new(
        "i have updated; i've updated; i updated; has been updated; have been updated; is now updated; \
        i have changed; i've changed; i changed; has been changed; have been changed; i have created; \
        i've created; i created; has been created; have been created; i have added; i've added; i added; \
        has been added; have been added; i have renamed; i've renamed; i renamed; has been renamed; \
        have been renamed; i have moved; i've moved; i moved; has been moved; have been moved; i have deleted; \
        i've deleted; i deleted; has been deleted; have been deleted; i have removed; i've removed; i removed; \
        has been removed; have been removed; i have written; i've written; i wrote; has been written; \
        have been written; i have fixed; i've fixed; i fixed; has been fixed; have been fixed; i have replaced; \
        i've replaced; i replaced; has been replaced; have been replaced; i have saved; i've saved; i saved; \
        has been saved; have been saved; i have edited; i've edited; i edited; i have modified; i've modified; \
        i modified; has been modified; have been modified; i have set; i've set; was updated; were updated; \
        was created; was renamed; was deleted; was added; successfully updated; successfully created; \
        successfully changed; successfully renamed; successfully deleted; successfully added; \
        successfully written; updated successfully; created successfully; deleted successfully; \
        renamed successfully",
    ),
};
