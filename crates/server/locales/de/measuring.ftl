measuring-title = Evaluation
measuring-lead = Fragen, deren Antworten Sie kennen, zeigen, wie gut diese Box antwortet und ob eine Änderung geholfen hat. Mehr dazu unter <a href="/docs/evaluation">Evaluation</a>.
measuring-asked = Was gefragt wurde
measuring-runs = Prüfen
measuring-running = { $asked } von { $total } Fragen gestellt
measuring-progress = Gestellte Fragen
measuring-running-hint = Die Prüfung geht weiter, wenn Sie diese Seite verlassen. Sie endet, wenn Sie sich abmelden oder der Server anhält.
measuring-failed = Die letzte Prüfung kam nicht bis zum Ende: { $cause }
measuring-cost = { $count ->
        [one] Eine Frage wird gestellt. Das kostet { $least } bis { $most } Einheiten; Sie haben diesen Monat noch { $left }.
       *[other] { $count } Fragen werden gestellt. Das kostet { $least } bis { $most } Einheiten; Sie haben diesen Monat noch { $left }.
    }
measuring-run = Jetzt prüfen
measuring-nothing = Sagen Sie für mindestens eine Frage, was richtig ist; dann kann diese Box geprüft werden.
measuring-history = Verlauf
measuring-plot = Unter den ersten drei gefunden und richtig beantwortet, Prüfung für Prüfung
measuring-plot-says = { $count } Prüfungen, die älteste zuerst. Die letzte fand { $found } und beantwortete { $right } richtig. Die Tabelle darunter hat alle Zahlen.
measuring-when = Wann
measuring-questions = Fragen
measuring-found-1 = Als Erstes gefunden
measuring-found-3 = Unter den ersten 3
measuring-found-10 = Unter den ersten 10
measuring-ndcg = nDCG@10
measuring-right = Richtig beantwortet
measuring-refused = Zu Recht abgelehnt
measuring-latency = Mittlere Zeit
measuring-units = Einheiten
measuring-ms = { $count } ms
measuring-percent = { $value } %
measuring-detail = Frage für Frage
measuring-all-right = Jede Frage wurde richtig beantwortet, und jede Suche fand eine richtige Datei.
measuring-went-well = { $count ->
        [one] Eine Frage lief gut
       *[other] { $count } Fragen liefen gut
    }
measuring-answer = Antwort
measuring-is-right = richtig
measuring-is-wrong = falsch
measuring-wrong-answers = antwortet, obwohl kein Dokument es tut
measuring-wrong-lacks = sagt nicht „{ $fact }“
measuring-wrong-uncited = zitiert keine richtige Datei
measuring-not-found = nicht unter den ersten 10
measuring-rank = Rang { $rank }
measuring-set = Prüfsatz
measuring-set-empty = Noch keine Fragen. Fügen Sie unten welche hinzu, oder aus dem, <a href="/boxes/{ $box }/questions">was gefragt wurde</a>.
measuring-size = { $count ->
        [one] Eine Frage von höchstens { $most }
       *[other] { $count } Fragen von höchstens { $most }
    }
measuring-export = { $count ->
        [one] Eine als JSONL herunterladen
       *[other] { $count } als JSONL herunterladen
    }
measuring-expected = Was richtig ist
measuring-incomplete = zu ergänzen
measuring-unanswerable = die Dokumente antworten nicht
measuring-edit = Bearbeiten
measuring-facts = Was die Antwort sagen muss
measuring-facts-hint = Je Zeile eins; Alternativen trennt ein Strich: 36 Monate | drei Jahre
measuring-files = Richtige Dateien
measuring-files-hint = Je Zeile eine, auf Wunsch mit Seite: terms.pdf#page=3
measuring-no-answer = Die Dokumente beantworten diese Frage nicht
measuring-add-title = Eine Frage hinzufügen
measuring-add = Frage hinzufügen
measuring-import-title = Fragen einfügen
measuring-lines = Fragen, je Zeile eine
measuring-import-hint = Jede Zeile ist ein JSON-Objekt, wie <code>quire eval</code> es liest. Eine Frage, die schon da ist, bekommt, was die Zeile erwartet.
measuring-import = Fragen hinzufügen
measuring-added = { $count ->
        [0] Der Prüfsatz hatte das schon.
        [one] Eine Frage wurde in den Prüfsatz aufgenommen.
       *[other] { $count } Fragen wurden in den Prüfsatz aufgenommen.
    }
measuring-to-set = In den Prüfsatz aufnehmen
measuring-in-set = im Prüfsatz
