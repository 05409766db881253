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
        rearrange; bring; throw; \
        get; do; arrange; reset; disable; cross; cut; clear; fill; mark; reduce; extend; finish; complete; improve; \
        polish; rework; revise; refine; optimise; optimize; enhance; beautify; renew; reorganise; reorganize",
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
        clean this up; clean it up; \
        clean up this; clean up here; clean up the folder; tidy up; tidy this; tidy it; sort this out; \
        sort it out; sort these out; some of it; unwanted files; outdated files; obsolete files; \
        unnecessary files; useless files; junk; clutter; change it back; put it back; set it back; \
        everything back",
    ),
    blank_words: Phrases::new(
        "i; thing; things; stuff; everything; anything; something; whatever; whoever; mess; bit; bits; little; lot; way; \
        ways; same; usual; time; times; again; rest; whole; ones; place; places; state; shape; order; kind; sort; part; \
        parts; look; looks; looking; look like; sound; sounds; seem; seems; work; works; works; belong; belongs; fit; \
        fits; think; like; liked; likes; needs; wants; wanted; knows; mind; should; must; may; might; shall; let; us; \
        thank; cheers; ta; discussed; agreed; suggested; told; said; mentioned; promised; really; quite; rather; still; \
        even; too; maybe; perhaps; somehow; exactly; favour; sense; touch; don; doesn; isn; aren; longer; anymore; \
        never; nobody; anybody; somebody; everybody; someone; anyone; people; dealt; another; different; details; \
        accordingly; he; she; him; his; her; hers; having; makes; up; off; away; together; back; inside; does; date; \
        day; due; going; second; first; last; other; read; later; earlier; most; least; more; less; fewer; missing; \
        correct; clear; clean; easy; nice; rid; forth; over; used; unused; use; changed; happened; free; absent; left; \
        next; new; go; goes; see; seen; head; ahead; both; those; who; where",
    ),
    better_words: Phrases::new(
        "better; nicer; nice; prettier; neater; neat; tidier; cleaner; clearer; easier; simpler; friendlier; catchier; \
        smarter; smoother; more interesting; more professional; more useful; more modern; more readable; more attractive; \
        more secure; more elegant; more efficient; more sense; more fitting; more suitable; proper; properly; sensible; \
        sensibly; correctly; suitable; appropriate; appropriately; fitting; in shape; into shape; in its place; \
        up to date; is wrong; are wrong; good order; right place; right way; good way; easier to read",
    ),
    judging_words: Phrases::new(
        "right; wrong; incorrect; bad; good; best; worst; worse; useful; useless; important; unimportant; relevant; \
        irrelevant; necessary; unnecessary; superfluous; needed; unneeded; need; outdated; obsolete; current; old; new; \
        stale; boring; interesting; professional; secure; attractive; readable; consistent; modern; faster; cheaper; \
        shorter; longer; bigger; smaller; weak; weaker; strange; odd; silly; ugly; messy; redundant; blurry; \
        implausible; doubtful; suspicious",
    ),
    saying_words: Phrases::new(
        "discussed; agreed; suggested; told you; told me; told us; i told; he said; she said; they said; i said; we said; \
        talked about; spoke about; mentioned; promised; complained; as usual; as always; the usual; like before; \
        last time; like last; same as; you know what; you know how; accordingly; reviewer said; asked for; wants; wanted",
    ),
    other_persons: Phrases::new("him; her; his; he; she"),
    persons: Phrases::new("i; we; you; he; she; they; nobody; people; anyone; somebody; anybody"),
    other_words: Phrases::new(
        "another; other; different; later; earlier; better; right; proper; usual; suitable; appropriate; correct",
    ),
    behind_nouns: Phrases::new(
        "to; into; as; off; out; away; and; up; down; back; again; is; was; has; please; now; instead; in",
    ),
    determiners: Phrases::new(
        "the; a; an; this; that; these; those; my; our; your; his; her; its; their; every; each; no; some; any",
    ),
    ways: Phrases::new("by; with; using; via"),
    clause_subjects: Phrases::new(
        "that; which; who; whom; what; whatever; whoever; i; we; you; he; she; they; nobody; people; \
        anyone; everyone; those",
    ),
    reasons: Phrases::new("so; because; since; if; when; as; until; before; after; while; and; or; but; than; unless"),
    result_verbs: Phrases::new(
        "change; update; adjust; rename; replace; modify; alter; edit; correct; set; move; raise; lower; increase; \
        decrease; reduce; cut; shorten; extend; switch",
    ),
    reworking_verbs: Phrases::new(
        "improve; polish; rework; rewrite; revise; refine; enhance; beautify; renew; reorganise; \
        reorganize; rearrange",
    ),
    result_words: Phrases::new(
        "to; by; with; into; as; so; from; instead; up; down; top; bottom; end; behind; before; after; between; above; \
        below; back; out; off; away; over; because; if; like; than; one; half; for; on; without; using; and; where; \
        until",
    ),
    text_words: Phrases::new(
        "line; lines; newline; newlines; column; columns; row; rows; header; headers; heading; headings; comment; \
        comments; tab; tabs; space; spaces; whitespace; blank; bracket; brackets; brace; braces; parenthesis; \
        parentheses; quote; quotes; apostrophe; apostrophes; semicolon; semicolons; comma; commas; full stop; dash; \
        dashes; hyphen; hyphens; underscore; underscores; exclamation marks; question marks; link; links; umlaut; \
        umlauts; bullet; bullets; letter; letters; character; characters; digit; digits; numbered; renumber; capital; \
        capitals; upper case; uppercase; lower case; lowercase; indent; indentation; syntax; duplicate; duplicates; \
        empty; ending; endings; extension; extensions; subfolder; subfolders; flatten; word; words; sentence; \
        sentences; paragraph; paragraphs; alphabetically; alphabetical; ascending; descending; oldest; newest; older; \
        newer; largest; smallest; longest; shortest; latest; negative; double; percent; total; totals; sum; test; \
        tests; build; crash; bug; bugs; error; errors; code; script; scripts; function; functions; program; programs; \
        typo; typos; spelling; grammar; punctuation; mistake; mistakes; misspelt; misspelled; type hints; warnings; \
        import; imports; dependencies; copyright; deprecated; snapshot; snapshots; lockfile; path; paths; url; urls; \
        referenced; requirements; formula; formulas; calculation; calculations; formatting; encoding; alignment; \
        duplication; unused; case; kebab-case; snake_case; python; javascript; typescript; rust; java; markdown; html; \
        css; json; csv; yaml; xml; sql; pdf; text files; images; pictures; photos; tables; lists; task; tasks; todo; \
        todos; finished; completed; ticked; licence; license; folder; folders; directory; directories",
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
        "function; method; class; module; variable; constant; parameter; argument; field; key; column; setting; option; \
        user",
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
        "the; of; in; on; at; to; it; its; and; or; for; an; my; me; you; we; us; our; not; no; be; as; by; if; so; up; \
        out; old; new; all; one; two; sum; total; average; count; number; result; answer; say; use; get; got; let; \
        many; much; this; that; these; those; there; with; from; into; about; your; mine; ours; they; them; their; \
        been; being; some; more; most; than; then; tell; please; give; know; mean; today; hello; thank; thanks; also; \
        just; only; very; each; every; other; such; like; need; want; make; made; take; come; goes; find; call; called; \
        name; word; words; long; short; good; best; first; last; next; over; under; between; after; before",
    ),
    about_words: Phrases::new(
        "plural of; opposite of; synonym of; synonym for; another word for; do you spell; do i spell; do you pronounce",
    ),
    own_words: Phrases::new(
        "to be done; to do; we; our; ours; my; mine; did i; do i still; have i; does it start; does it begin; \
        does it end; does it cost; does it open; does it close; does it work; on monday; on tuesday; on wednesday; \
        on thursday; on friday; on saturday; on sunday; this week; next week; last week; next month; last month; \
        translate it; explain it; translate this; explain this; is it free; them; am i; was i",
    ),
    word_questions: Phrases::new("what does * mean; what does * stand for"),
    definitions: Phrases::new("what * is; what * means; what * stands for"),
    explaining_verbs: Phrases::new("means; stands; is"),
    advice: Phrases::new(
        "how do i; how can i; how to; how would i; how should i; how does one; how do you; should i; what command; \
        which command; what does it mean; what is the difference; what's the difference; why do people; \
        what are the advantages; is it possible; is it safe; is it a good idea; can i; what is the best; \
        what's the best; what happens if; show me how to; show me how i; tell me how to; tell me how i; explain how to; \
        what would",
    ),
    advice_phrases: Phrases::new(
        "any tips; any advice; some tips; some advice; tips for; what helps; what can i do; what should i do; \
        what do i do; is that normal; is it normal; is it rude; is it ok to; is it okay to; is it bad luck; \
        what is a good; what's a good; whats a good; what's the secret; how do i; how can i; how do you; \
        what could be the reason; recommend me",
    ),
    text_requests: Phrases::new(
        "explain; define; translate; tell me; telling me; teach me; cheer me up; entertain me; let's play",
    ),
    operators: Phrases::new(
        "plus; minus; times; divided; multiplied; percent; squared; cubed; root; square; power; half; quarter; third; \
        convert; calculate; compute; temperature; degrees; celsius; fahrenheit; km; kilometres; kilometers; miles; \
        metres; meters; feet; foot; inches; inch; cm; kg; kilos; grams; pounds; ounces; ounce; litres; liters; gallons; \
        cups; cup; ml; millilitres",
    ),
    translating: Phrases::new("translate; say; in french; in german; in spanish; in italian; in english; in latin"),
    kind_phrases: Phrases::new(
        "in the world; on earth; in the universe; of all time; in history; in general; generally; typically; usually; \
        normally; on average; nowadays; these days; world record; world champion; the capital of; the population of; \
        the currency of; difference between; what is a; what is an; what's a; what's an; whats a; explain what; \
        explain how; explain why; explain to me; like i'm; in simple words; how do i; how do you; how can i; how to; \
        how does a; how does an; how do; how are; how should i; how should one; how often should; how long should; \
        why do; why does a; why does an; why are; does a; does an; are in a; are in an; are on a; there in a; \
        there in an; do people; did people; is it true; is it rude; a kind of; do you dream; do you like; do you think; \
        do you have a favourite; have you ever; are you; would you rather; in your opinion; your favourite; \
        what do you; the world; who invented; who discovered; made of; should one; does one; rhymes with; good for; \
        healthier; is better; tips; latin name; the rules of; random question; general question; trivia question; \
        just curious; just wondering; out of curiosity",
    ),
    prices: Phrases::new(
        "cost; costs; price; pay; pays; expensive; charge; allowed; is there a; is there an; are there any; why are there; \
        how much is; available; left; in stock; how are we; how are things; worth",
    ),
    definite_words: Phrases::new("the; this; that; these; those; my; our; his; her; their; s"),
    fillers: Phrases::new("actually; really; exactly; even; precisely; just; the; word; a; an; abbreviation"),
    calendar_words: Phrases::new(
        "monday; tuesday; wednesday; thursday; friday; saturday; sunday; mondays; tuesdays; wednesdays; thursdays; fridays; \
        saturdays; sundays; january; february; march; april; june; july; august; september; october; november; december",
    ),
    text_makers: Phrases::new(
        "write; give me; give us; tell; make up; compose; recite; sing; invent; come up with; do you know; recommend; \
        suggest",
    ),
    asking: Phrases::new(
        "tell me who; tell me what; tell me which; tell me where; tell me when; tell me how; tell me if; tell me whether; \
        tell me the; tell me about; let me know; look up; find out; check",
    ),
    talk_texts: Phrases::new(
        "joke; riddle; poem; limerick; haiku; rhyme; story; tongue twister; fun fact; pun; song; compliment; \
        lines of congratulations; birthday wish; a film; a book; a name for",
    ),
    feelings: Phrases::new(
        "let's play; congratulations on; i feel; i'm so; i am so; i'm bored; i am bored; i'm tired; i am tired; \
        i'm nervous; i am nervous; i'm sad; i am sad; i'm happy; i'm a bit; i'm getting; i love; i hate; i miss you; \
        i miss my; i always lose; i passed; i failed; i can't think; i can't sleep; i don't get; you're so; you are so; \
        you're really; you are really; you're the; you are the; you're very; you are very; you're great; you're funny; \
        we lost; we won",
    ),
    courtesies: Phrases::new(
        "lovely; weather; weekend; evening; afternoon; night; day; days; morning; week; meet; lot; million; help; \
        helped; helping; helpful; hope; well; fine; friend; friends; buddy; mate; kind; sweet; great; awesome; \
        wonderful; beautiful; having; enjoy; care; later; soon; tomorrow; tonight; bye; earlier; rude; needed; exactly; \
        typos; phone; luck; again; see; lol; haha; dear; everybody; everyone; world; nice; isn; appreciate; perfect; \
        cool; super; brilliant; so; really; didn; don; doesn; guten; hallo; joke; song; something; smile; poem; \
        earnest",
    ),
    degree_words: Phrases::new("most; least; fewest"),
    unique_things: Phrases::new(
        "sky; moon; sun; earth; sea; ocean; world; internet; universe; weather; war; equator; stars; solar; human; same; \
        correct; difference; name; meaning; opposite; plural; word; best; way; first; last; second; current; point; secret; \
        largest; other; right; ceremony; web; side; left; day; middle; end; beginning; others; one; ones; rings; time",
    ),
    talk: Phrases::new(
        "hello; hi; hey; morning; evening; good morning; good afternoon; good evening; good night; thanks; thank you; \
        bye; goodbye; ok bye; see you; good luck; merry christmas; happy new year; happy birthday; congratulations; \
        well done; greet; say hello; say hi; say something; tell me a joke; tell me something; wish me; give me a joke; \
        sing; lol; haha; sorry; knock knock; cheer me up; are you; do you dream; do you like; have you ever; \
        who are you; what are you; nice to; how nice; that was",
    ),
    places: Phrases::new(
        "this folder; this directory; current folder; current directory; the folder; the directory; here; workspace; \
        this project; the project; this repo; this repository; the repo; the repository; the files; these files; \
        my files; all files; every file; each file; the tests; the test suite; the script",
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
