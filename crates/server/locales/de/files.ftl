files-receipt = Beleg
files-further = und { $count } weitere; das Audit-Protokoll nennt jede.
files-deleted-hint = Gelöschtes kann nicht mehr gefunden, gelesen oder heruntergeladen werden.
files-upload = Hochladen
files-drop = Dateien oder Ordner hier ablegen
files-drop-hint = oder auswählen · je bis zu { $size } · PDF, Word, Excel, PowerPoint, E-Mail, Webseiten, Text, Bilder und mehr
files-choose-files = Dateien wählen
files-choose-folder = Ordner wählen
files-add-text = Text hinzufügen
files-add-a-text = Text hinzufügen
files-add-or-address = Text oder Webadresse hinzufügen
files-example = Öffnungszeiten
files-text = Text
files-plain = Reiner Text oder Markdown
files-web-address = Webadresse
files-fetch = Abrufen
files-retry-failed = Fehlgeschlagene wiederholen
files-cancel-all = Alle abbrechen
files-clear = Leeren
files-failed-uploads = Fehlgeschlagene Uploads
files-uploads = Uploads
files-none = Noch keine Dateien
files-none-how = Legen Sie oben welche ab. Sobald die erste bereit ist, können Sie <a href="/boxes/{ $box }/chat">Fragen dazu stellen</a>.
files-editors-add = Bearbeiter dieser Box können Dateien hinzufügen.
files-filter-files = Dateien filtern
files-name-part = Teil des Namens
files-status = Status
files-any-status = Jeder Status
files-status-ready = Bereit
files-status-warnings = Bereit, mit Warnungen
files-in-progress = In Arbeit
files-status-failed = Fehlgeschlagen
files-label = Schlagwort
files-filter = Filtern
files-show-all = Alle anzeigen
files-retry-all = Alle fehlgeschlagenen Dateien neu verarbeiten
files-select-files = Wählen Sie Dateien aus, um sie zu verschlagworten, neu zu verarbeiten oder zu löschen.
files-labels-to-add = Hinzuzufügende Schlagwörter
files-labels-to-add-example = neue Schlagwörter
files-add-labels = Schlagwörter hinzufügen
files-reprocess = Neu verarbeiten
files-delete-confirm = Die ausgewählten Dateien endgültig löschen?
files-delete = Löschen
files-select-all = Alle auf dieser Seite auswählen
files-state = Zustand
files-select = { $name } auswählen
files-pages-read = Gelesene Seiten
files-no-match = Keine Datei passt.
files-first-page = Erste Seite
files-more-files = Weitere Dateien
files-status-queued = Wartet
files-status-processing = In Arbeit
files-status-deleting = Wird gelöscht
files-not-processed = sie konnte nicht verarbeitet werden
files-column-name = Name
files-column-pages = Seiten
files-column-size = Größe
files-column-added = Hinzugefügt
files-original-kept = das Original bleibt für eine andere Datei dieser Box erhalten, { $pages }, { $passages }, { $vectors }
files-original-gone = das Original, { $pages }, { $passages }, { $vectors }
files-labelled = { $count ->
        [one] { $count } Datei verschlagwortet.
       *[other] { $count } Dateien verschlagwortet.
    }
files-reprocessed = { $count ->
        [one] { $count } Datei wird erneut verarbeitet.
       *[other] { $count } Dateien werden erneut verarbeitet.
    }
files-deleted = { $count ->
        [one] { $count } Datei gelöscht.
       *[other] { $count } Dateien gelöscht.
    }
files-recognised = Aus einem Bild erkannt
files-recognised-sure = Aus einem Bild erkannt, zu { $percent } % sicher
files-with-structure = Mit Aufbau gelesen
files-as-text = Als reiner Text gelesen
files-report = Bericht
files-facts = { $kind } · { $size } · { $pages } Seiten · { $passages }
files-in-language = Sprache { $language }
files-original = Original
files-download = Herunterladen
files-processing-report = Verarbeitungsbericht
files-found = Was gefunden wurde
files-previous-hit = Voriger Treffer
files-next-hit = Nächster Treffer
files-back-to-found = Zurück zu den Treffern
files-no-text = Es konnte kein Text gelesen werden.
files-no-text-yet = Noch kein Text.
files-about = Über diese Datei
files-searchable = Durchsuchbar seit
files-folder = Ordner
files-id = Kennung der Datei
files-change = Ändern
files-labels = Schlagwörter
files-metadata = Metadaten
files-key-number = Schlüssel { $number }
files-value-of = Wert von { $key }
files-new-key = Neuer Schlüssel
files-key = Schlüssel
files-new-value = Neuer Wert
files-value = Wert
files-metadata-hint = Suchen können danach filtern. Ein Eintrag ohne Schlüssel wird ignoriert.
files-delete-one-confirm = { $name } endgültig löschen?
files-report-of = Verarbeitungsbericht von <a href="/boxes/{ $box }/files/{ $file }">{ $name }</a>
files-read-of = { $read } von { $total } gelesen
files-read-recognised = { $count ->
        [one] { $count } aus einem Bild erkannt
       *[other] { $count } aus Bildern erkannt
    }
files-read-blank = { $count } ohne Text
files-read-warned = { $count ->
        [one] { $count } mit einer Warnung
       *[other] { $count } mit Warnungen
    }
files-how = Wie
files-characters = Zeichen
files-tables = Tabellen
files-warnings = Warnungen
files-nothing-read = Aus dieser Datei wurde nichts gelesen.
files-more-pages = Weitere Seiten
files-previous-page = Vorige Seite
files-next-page = Nächste Seite
files-page-of = Seite { $page } von { $total }
files-go-to-page = Zu Seite gehen
files-go = Los
files-picture-of-page = Bild der Seite
files-enlarge = Vergrößern
files-picture-alt = Seite { $page } von { $name }
files-quote = Das Zitat auf der Seite
files-text-of-page = Text der Seite
files-open = Datei hier öffnen
files-select-everything = { $count ->
        [one] { $count } Datei auswählen
       *[other] Alle { $count } Dateien auswählen
    }
