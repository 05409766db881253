//! German.

use super::{Language, Phrases};

pub(super) static GERMAN: Language = Language {
    change_verbs: Phrases::new(
        "ändere; änder; ersetze; ersetz; benenne; benenn; verschiebe; verschieb; lösche; lösch; entferne; aktualisiere; \
        bearbeite; korrigiere; repariere; behebe; kopiere; setze; erhöhe; füge; ergänze; trage; hänge",
    ),
    make_verbs: Phrases::new("schreibe; schreib; erstelle; speichere; lege"),
    write_verbs: Phrases::new("schreibe; schreib; speichere"),
    move_verbs: Phrases::new("benenne; benenn; verschiebe; verschieb; kopiere"),
    copy_verbs: Phrases::new("kopiere"),
    delete_verbs: Phrases::new("lösche; lösch; entferne"),
    elsewhere_verbs: Phrases::new("repariere; behebe; benenne; benenn"),
    altering_verbs: Phrases::new(
        "mach; mache; räum; räume; nimm; nehmen; stell; stelle; lege; leg; bring; sortiere; wirf; werf; verbessere; \
        verbesser; überarbeite; pass; passe; streiche; tu; tue; schmeiß; schmeiße",
    ),
    adding_verbs: Phrases::new("füge; ergänze; trage; hänge; kopiere"),
    ambiguous_verbs: Phrases::new("setze; kopiere"),
    unclear_phrases: Phrases::new(
        "was nicht gebraucht; was nicht mehr gebraucht; nicht mehr gebraucht; nicht gebraucht; was unnötig; \
        unnötigen dateien; überflüssigen; unwichtige; unwichtigen; sinnvoller; schöner; hübscher; \
        wieder rückgängig; das rückgängig; alles rückgängig; räum hier; räum auf; räum bitte auf; räume hier; \
        räume auf; vorige fassung; vorherige fassung; wie vorher; wie es war; wie früher; hingehören; \
        hingehört; richtigen platz; richtigen ort; falschen einträge; alten sachen; die sachen; besseren namen",
    ),
    blank_words: Phrases::new(
        "sache; sachen; zeug; kram; ding; dinge; alles; etwas; irgendetwas; irgendwas; ordnung; platz; stelle; ort; \
        weise; hier; mal; bisschen; bißchen; wenig; einfach; wieder; weg; raus; rein; auf; aus; um; an; ab; was; brauchen; \
        braucht; brauche; will; wollen; soll; sollen; gefällt; gehört; gehören; hingehört; hingehören; passt; mehr; nie; \
        niemand; keiner; man; letztes; letzte; mal; jahr; wie; als; ist; sind; waren; wird; werden; alt; danke; doch; \
        noch; nicht; bloß; nur; halt; eben; gern; gerne; kannst; könntest; würdest; lieb; nett; ihm; ihn; ihr; ihre; sein; \
        seine; uns; zur; zum; zu; so",
    ),
    better_words: Phrases::new(
        "besser; bessere; besseren; schöner; hübscher; ordentlich; ordentlicher; vernünftig; sinnvoll; sinnvoller; passend; \
        passender; in ordnung; richtige stelle; richtigen stelle; falsch; anständig; übersichtlicher; lesbarer",
    ),
    judging_words: Phrases::new(
        "alte; alten; altes; alter; neue; neuen; neues; richtig; richtige; richtigen; falsche; falschen; gut; gute; guten; \
        schlecht; schlechte; schlechten; unnötig; unnötige; unnötigen; unnötiges; überflüssig; überflüssige; überflüssiges; \
        wichtig; wichtige; wichtigen; unwichtig; unwichtige; veraltet; veraltete; veralteten; nötig; nötige; gebraucht",
    ),
    saying_words: Phrases::new(
        "besprochen; vereinbart; abgemacht; ausgemacht; gesagt; letztes mal; wie immer; wie üblich; wie gehabt; wie sonst; \
        wie letztes",
    ),
    other_persons: Phrases::new("ihn; ihm; seine; seinen"),
    persons: Phrases::new("ich; wir; du; man; niemand; keiner"),
    other_words: Phrases::new("andere; anderen; anderer; anderes; andern; bessere; besseren"),
    behind_nouns: Phrases::new("auf; nach; zu; um; weg; raus; wieder; bitte; ist; und"),
    determiners: Phrases::new(
        "der; die; das; den; dem; des; ein; eine; einen; einem; einer; mein; meine; meinen; unser; unsere; unseren; diese; \
        diesen; dieser; dieses; jede; jeden; jedes",
    ),
    ways: Phrases::new("nach; mit; mithilfe"),
    clause_subjects: Phrases::new("was; ich; wir; du; er; niemand; keiner; alles"),
    reasons: Phrases::new("weil; wenn; damit; falls; bevor; nachdem; und; oder; aber; als"),
    result_verbs: Phrases::new(
        "ändere; änder; aktualisiere; korrigiere; benenne; benenn; verschiebe; verschieb; ersetze; ersetz; setze; erhöhe; \
        pass; passe; bearbeite",
    ),
    reworking_verbs: Phrases::new("verbessere; verbesser; überarbeite"),
    result_words: Phrases::new(
        "auf; zu; zum; zur; durch; nach; in; als; mit; von; indem; hinter; vor; unter; über; oben; unten; nach; statt; um",
    ),
    text_words: Phrases::new(
        "zeile; zeilen; spalte; spalten; kopfzeile; überschrift; überschriften; kommentar; kommentare; tabulator; \
        tabulatoren; leerzeichen; leerzeile; leerzeilen; klammer; klammern; anführungszeichen; semikolon; komma; \
        kommas; punkt; strich; striche; strichen; umlaute; absatz; absätze; wort; wörter; satz; sätze; buchstabe; \
        buchstaben; großbuchstaben; kleinbuchstaben; doppelte; doppelten; leere; leeren; endung; endungen; \
        alphabetisch; syntaxfehler; älteste; neueste; älteren; neueren; prozent; verdopple; summe; test; tests; fehler; \
        skript; programm; rechtschreibung; rechtschreibfehler; tippfehler; grammatik; ordner; verzeichnis; bilder; \
        fotos; textdateien",
    ),
    file_verbs: Phrases::new("erstelle; schreibe"),
    other_meanings: Phrases::new(""),
    lead_ins: Phrases::new("bitte; dann; jetzt; nun; hallo; kannst du; könntest du; kannst du bitte"),
    addresses: Phrases::new("du"),
    joins: Phrases::new("und; dann; danach"),
    before_names: Phrases::new("die; datei; dateien; beide"),
    pronouns: Phrases::new("es; sie; das; dies; diese; was"),
    prepositions: Phrases::new("in; im; an; aus; von; unter"),
    list_words: Phrases::new("und; sowie; auch; in"),
    target_before: Phrases::new("datei; namens; in; nach; als; eine; die; neue"),
    target_into: Phrases::new("nach; als"),
    replace_verbs: Phrases::new("ersetze; ersetz; ändere; benenne"),
    replaced_by: Phrases::new("durch; zu"),
    named_things: Phrases::new("funktion; methode; klasse; variable; konstante; spalte; einstellung; benutzer"),
    work_nouns: Phrases::new("skript; programm; datei; liste; tabelle; seite; fehler"),
    demands: Phrases::new("muss; müssen; soll; sollen; wird zu; werden zu"),
    renamed_by: Phrases::new("wird"),
    stays: Phrases::new("bleibt; bleiben; unverändert; lass; finger weg"),
    file_nouns: Phrases::new("datei; dateien; ordner; verzeichnis"),
    relatives: Phrases::new("die; der; das; welche; von; über; für"),
    question_words: Phrases::new("was; welche; welcher; welches; wer; wo; warum; wieso; wie; wann; wieviele"),
    weak_question_words: Phrases::new("ist; sind; hat; haben; gibt; kann"),
    common_words: Phrases::new(
        "der; die; das; den; dem; des; ein; in; im; an; am; zu; und; oder; für; mit; von; ich; du; wir; es; er; sie; so; \
        summe; anzahl; viele; viel; diese; dieser; dieses; eine; einen; einer; eines; mein; meine; dein; deine; bitte; \
        heute; hallo; danke; sich; auch; nicht; noch; oder; über; nach; durch; gibt; mich; dich; wort; name; namen",
    ),
    about_words: Phrases::new("mehrzahl von; plural von; gegenteil von; anderes wort für; schreibt man; spricht man"),
    own_words: Phrases::new(
        "wir; uns; unser; unsere; unseren; mein; meine; meinen; habe ich; muss ich; am montag; am dienstag; am mittwoch; \
        am donnerstag; am freitag; am samstag; am sonntag; diese woche; nächste woche; letzte woche",
    ),
    word_questions: Phrases::new("was bedeutet *; was heißt *"),
    definitions: Phrases::new("was * ist; was * bedeutet; was * heißt"),
    explaining_verbs: Phrases::new("bedeutet; heißt; steht; ist"),
    advice: Phrases::new("wie kann ich; wie mache ich; wie lösche ich; soll ich; sollte ich; was ist der unterschied"),
    advice_phrases: Phrases::new(
        "ein tipp; einen tipp; tipps; was hilft; was kann ich tun; wie macht man; ist das normal",
    ),
    text_requests: Phrases::new("erklär; erkläre; erzähl; erzähle; übersetze; übersetz; wünsch mir; mir einen tipp"),
    operators: Phrases::new("mal; geteilt; plus; minus; prozent; durch; hälfte; wurzel; hoch"),
    translating: Phrases::new("übersetze; übersetz; sagt man; heißt"),
    kind_phrases: Phrases::new(
        "was ist ein; was ist eine; was ist der unterschied; wie macht man; warum ist; warum sind; warum haben; \
        auf der welt; im allgemeinen; normalerweise; eigentlich; meistens; gesünder; bist du; magst du; erfunden",
    ),
    prices: Phrases::new("kostet; kosten; preis; bezahlen; erlaubt; gibt es ein; gibt es eine; gibt es einen; noch da"),
    definite_words: Phrases::new(
        "der; die; das; den; dem; des; dieser; diese; dieses; diesem; mein; meine; unser; unsere",
    ),
    fillers: Phrases::new("eigentlich; genau; denn; das; wort; der; die; begriff"),
    calendar_words: Phrases::new(
        "montag; dienstag; mittwoch; donnerstag; freitag; samstag; sonntag; januar; februar; märz; juni; juli; \
        oktober; dezember",
    ),
    text_makers: Phrases::new("schreib; schreibe; gib mir; erzähl; erzähle; sag; kennst du; sing; dichte"),
    asking: Phrases::new(
        "sag mir, wer; sag mir, was; sag mir, wie; sag mir, wann; sag mir wie; sag mir wer; sag mir was",
    ),
    talk_texts: Phrases::new("witz; gedicht; rätsel; geschichte; reim; lied"),
    feelings: Phrases::new(
        "mir ist so; ich bin so; ich bin müde; mir ist langweilig; ich liebe; ich hasse; du bist so; du bist sehr",
    ),
    courtesies: Phrases::new(
        "dir; bei; na; tag; abend; morgen; nacht; woche; wochenende; hilfe; geholfen; sehr; wünsche; schönen; schöne; \
        gute; guten; lieb; nett; klar; gut; heute; bald; alles; hat; mir; mal; bis; glück; na; ebenfalls",
    ),
    unique_things: Phrases::new(
        "himmel; mond; sonne; erde; welt; meer; internet; wetter; krieg; unterschied; erste; ersten",
    ),
    degree_words: Phrases::new("meisten; wenigsten"),
    talk: Phrases::new(
        "hallo; guten morgen; guten tag; guten abend; gute nacht; danke; vielen dank; tschüss; sag hallo; \
        erzähl mir einen witz; danke dir; wünsch mir; frohe; schönen; alles gute; moin; servus",
    ),
    places: Phrases::new("diesem ordner; diesem verzeichnis; diesem projekt; hier"),
    in_answer: Phrases::new("sag mir hier; sag es hier; antworte hier"),
    exclusions: Phrases::new("nicht; außer; ohne; lass; lasse; behalte"),
    negations_behind: Phrases::new("nicht; unverändert; in ruhe"),
    negations: Phrases::new("nicht"),
    exclusion_fillers: Phrases::new("der; den; das; dem; etwas; irgendetwas; oder"),
    inclusions: Phrases::new("nicht nur; nicht vergessen; vergiss nicht"),
    clause_words: Phrases::new("außer; aber"),
    listing_words: Phrases::new("wie viele dateien; welche dateien; größte; kleinste; größer"),
    computing_words: Phrases::new(
        "wie viele; wie oft; wieviele; summe; insgesamt; durchschnitt; meisten; wenigsten; höchste; niedrigste; \
        längste; kürzeste; anzahl; mehr als; weniger als; prozent",
    ),
    files_words: Phrases::new("dateien"),
    all_words: Phrases::new("alle; allen; jede; jeder"),
    limits: Phrases::new("die; deren; mit; älter; neuer; größer; kleiner"),
    everything_words: Phrases::new("alles"),
    several_words: Phrases::new("dateien; ordner; andere; anderen; übrigen; seiten; beide; beiden"),
    everywhere_words: Phrases::new("überall; alles; projekt; verweise; tests"),
    moving_words: Phrases::new(
        "verschiebe; verschieben; benenne; umbenennen; umbenenne; bewege; ordner; verzeichnis; verzeichnisse; endung; \
        endungen; name; namen; dateiname; dateinamen; ersetze; heißen; sortiere; archiv; archiviere; ordne; lege; tausche",
    ),
    replacing_words: Phrases::new(
        "verschiebe; verschieben; benenne; umbenennen; umbenenne; bewege; konvertiere; tausche; archiviere; teile",
    ),
    deleting_words: Phrases::new(
        "lösche; löschen; gelöscht; entferne; entfernen; entfernt; weg; leere; aufräumen; räume; wirf; unnötig; \
        unnötige; überflüssig; überflüssige",
    ),
    grounds: Phrases::new(
        "bereits; keine änderung; nicht gefunden; existiert nicht; gibt es nicht; konnte nicht; kann nicht; \
        fehler; verweigert; fehlgeschlagen; keine; nicht",
    ),
    refusals: Phrases::new("das mache ich nicht; das kann ich nicht tun"),
    no_access: Phrases::new("keinen zugriff; kann nicht auf deine; kann nicht auf ihre"),
    hands_back: Phrases::new("du kannst folgenden; führe folgenden; sie können folgenden; folgenden befehl"),
    asks_leave: Phrases::new("soll ich; möchtest du, dass ich; möchten sie, dass ich"),
    announces: Phrases::new("ich werde jetzt; ich werde nun; als nächstes werde ich; zuerst werde ich"),
    may_announce: Phrases::new("ich werde; lass mich"),
    step_verbs: Phrases::new("lesen; öffnen; prüfen; schreiben; erstellen; ändern; suchen; ausführen; auflisten"),
    closings: Phrases::new("sag bescheid; sag mir bescheid; lass es mich wissen; gerne"),
    claims: Phrases::new("ich habe die datei; wurde aktualisiert; wurde geändert; wurde erstellt; wurde gelöscht"),
};
