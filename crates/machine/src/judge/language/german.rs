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
    altering_verbs: Phrases::new("mach; mache; räum; räume; nimm; nehmen; stell; stelle; lege; leg; bring; sortiere"),
    adding_verbs: Phrases::new("füge; ergänze; trage; hänge; kopiere"),
    ambiguous_verbs: Phrases::new("setze; kopiere"),
    unclear_phrases: Phrases::new(
        "was nicht gebraucht; was nicht mehr gebraucht; nicht mehr gebraucht; nicht gebraucht; was unnötig; \
        unnötigen dateien; überflüssigen; unwichtige; unwichtigen; sinnvoller; schöner; hübscher; \
        wieder rückgängig; das rückgängig; alles rückgängig; räum hier; räum auf; räum bitte auf; räume hier; \
        räume auf; vorige fassung; vorherige fassung; wie vorher; wie es war; wie früher; hingehören; \
        hingehört; richtigen platz; richtigen ort; falschen einträge; alten sachen; die sachen; besseren namen",
    ),
    text_words: Phrases::new(
        "zeile; zeilen; spalte; spalten; kopfzeile; überschrift; überschriften; kommentar; kommentare; tabulator; \
        tabulatoren; leerzeichen; leerzeile; leerzeilen; klammer; klammern; anführungszeichen; semikolon; komma; kommas; \
        punkt; strich; striche; strichen; umlaute; absatz; absätze; wort; wörter; satz; sätze; buchstabe; buchstaben; \
        großbuchstaben; kleinbuchstaben; doppelte; doppelten; leere; leeren; endung; endungen; alphabetisch; syntaxfehler; \
        älteste; neueste; älteren; neueren; prozent; verdopple; summe; test; tests; fehler; skript; programm; rechtschreibung; rechtschreibfehler; tippfehler; \
        grammatik; ordner; verzeichnis; bilder; fotos; textdateien",
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
        summe; anzahl; viele; viel; diese; dieser; dieses; eine; einen; einer; eines; mein; meine; dein; deine; bitte; heute; \
        hallo; danke; sich; auch; nicht; noch; oder; über; nach; durch; gibt; mich; dich; wort; name; namen",
    ),
    about_words: Phrases::new("mehrzahl von; plural von; gegenteil von; anderes wort für; schreibt man; spricht man"),
    own_words: Phrases::new("wir; uns; unser; unsere; unseren; mein; meine; meinen; habe ich; muss ich"),
    word_questions: Phrases::new("was bedeutet *; was heißt *"),
    explaining_verbs: Phrases::new("bedeutet; heißt; steht; ist"),
    advice: Phrases::new("wie kann ich; wie mache ich; wie lösche ich; soll ich; sollte ich; was ist der unterschied"),
    talk: Phrases::new(
        "hallo; guten morgen; guten tag; guten abend; gute nacht; danke; vielen dank; tschüss; sag; erzähl; erzähle",
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
