frame-skip = Zum Inhalt springen
frame-description = quire: durchsuchen Sie Ihre Dokumente, lesen Sie sie Seite für Seite und stellen Sie ihnen Fragen.
frame-menu = Menü
frame-main = Hauptmenü
frame-boxes = Boxen
frame-search = Suchen
frame-account = Konto
frame-keys = API-Schlüssel
frame-integrations = Integrationen
frame-playground = Testbereich
frame-webhooks = Webhooks
frame-usage = Verbrauch
frame-profile = Profil
frame-help = Hilfe
frame-documentation = Dokumentation
frame-server = Server
frame-users = Benutzer
frame-plans = Tarife
frame-system = System
frame-audit = Audit-Protokoll
frame-sign-out = Abmelden
frame-box = Box
frame-files = Dateien
frame-chat = Chat
frame-members = Mitglieder
frame-questions = Fragen
frame-settings = Einstellungen
frame-page = Seite
frame-previous = Zurück
frame-next = Weiter
frame-close = Schließen
frame-start = Zur Startseite
frame-request = Anfrage { $id }
frame-role-viewer = Leser
frame-role-editor = Bearbeiter
frame-role-admin = Verwalter
frame-role-owner = Besitzer
frame-may-viewer = lesen, suchen und chatten
frame-may-editor = außerdem Dateien hochladen und löschen
frame-may-admin = außerdem Mitglieder und Einstellungen verwalten und die API benutzen
frame-may-owner = außerdem die Box löschen oder übergeben
frame-count-files = { $count ->
        [one] { $count } Datei
       *[other] { $count } Dateien
    }
frame-count-boxes = { $count ->
        [one] in { $count } Box
       *[other] in { $count } Boxen
    }
frame-count-pages = { $count ->
        [one] { $count } Seite
       *[other] { $count } Seiten
    }
frame-count-members = { $count ->
        [one] { $count } Mitglied
       *[other] { $count } Mitglieder
    }
frame-count-passages = { $count ->
        [one] { $count } Textstelle
       *[other] { $count } Textstellen
    }
frame-count-vectors = { $count ->
        [one] { $count } Vektor
       *[other] { $count } Vektoren
    }
frame-count-units = { $count ->
        [one] { $count } Einheit
       *[other] { $count } Einheiten
    }
frame-count-calls = { $count ->
        [one] { $count } Aufruf
       *[other] { $count } Aufrufe
    }
frame-size-b = { $size } B
frame-size-kb = { $size } KB
frame-size-mb = { $size } MB
frame-size-gb = { $size } GB
frame-size-tb = { $size } TB
frame-kind-mail = E-Mail
frame-kind-picture = Bild
frame-kind-text = Text
frame-kind-file = Datei
frame-browser-on = { $browser } unter { $system }
frame-browser-unknown = Ein unbekannter Browser
frame-refused = Dazu sind Sie nicht berechtigt
frame-too-many = Zu viele Versuche
frame-sign-in-first = Melden Sie sich zuerst an
frame-no-units = Nicht genügend Einheiten übrig
frame-not-now = Das ist jetzt nicht möglich
frame-no-page = Unter dieser Adresse gibt es keine Seite
frame-no-model = Das Sprachmodell ist nicht erreichbar
frame-wrong-request = Mit der Anfrage stimmt etwas nicht
frame-done-renamed = Die Box wurde umbenannt.
frame-done-language = Die Sprache wurde geändert. Ändert sich dadurch das Modell, wird der Index neu aufgebaut; die Box bleibt dabei benutzbar.
frame-done-box-deleted = Die Box wurde mit ihrem gesamten Inhalt gelöscht.
frame-done-handed-over = Die Box wurde übergeben.
frame-done-member-added = Das Mitglied wurde hinzugefügt.
frame-done-member-changed = Die Rolle wurde geändert und gilt ab der nächsten Anfrage.
frame-done-member-removed = Das Mitglied wurde entfernt.
frame-done-shared = Alle in dieser Box können die Unterhaltung jetzt lesen, wie sie ist.
frame-done-unshared = Die Unterhaltung gehört wieder Ihnen allein.
frame-done-conversation-deleted = Die Unterhaltung wurde gelöscht.
frame-done-expected = Was für die Frage richtig ist, wurde gespeichert.
frame-done-question-removed = Die Frage wurde aus dem Prüfsatz entfernt.
frame-done-left = Sie haben die Box verlassen.
frame-done-withdrawn = Die Einladung wurde zurückgezogen.
frame-done-file-changed = Die Datei wurde geändert.
frame-done-added = Die Datei wurde hinzugefügt und wird verarbeitet.
frame-done-read-again = Die Datei wird erneut verarbeitet.
frame-done-key-revoked = Der Schlüssel wurde widerrufen; das gilt ab der nächsten Anfrage.
frame-done-program-revoked = Das Programm hat ab der nächsten Anfrage keinen Zugriff mehr.
frame-done-webhook-deleted = Der Webhook wurde gelöscht.
frame-done-replayed = Das Ereignis wird erneut gesendet.
frame-done-profile = Ihr Profil wurde gespeichert.
frame-done-password = Ihr Passwort wurde geändert, und alle Ihre anderen Anmeldungen wurden beendet.
frame-done-second-step-removed = Der zweite Schritt wurde ausgeschaltet.
frame-done-passkey-added = Der Passkey wurde hinzugefügt; Sie können sich jetzt damit anmelden.
frame-done-passkey-removed = Der Passkey wurde entfernt.
frame-done-session-ended = Diese Anmeldung wurde beendet.
frame-done-connected = Ihr Konto ist verbunden; Sie können sich jetzt so anmelden.
frame-done-confirmed = Die Adresse ist bestätigt; offene Einladungen dafür gelten jetzt.
frame-done-offered = Wer sich als Nächstes mit dieser Adresse beim Anbieter anmeldet, bekommt das Konto.
frame-done-kept = Die Übergabe ist abgebrochen; das Konto bleibt, wie es war.
frame-done-unlocked = Das Konto ist entsperrt; die nächste Anmeldung muss nicht warten.
frame-done-user-changed = Das Konto wurde geändert.
frame-done-plan = Der Tarif wurde gespeichert.
frame-done-signed-out = Sie sind abgemeldet.
frame-done-signed-out-everywhere = Sie sind überall abgemeldet.
frame-name = Name
frame-email = E-Mail-Adresse
frame-password = Passwort
frame-copy = Kopieren
frame-save = Speichern
frame-role = Rolle
frame-actions = Aktionen
frame-you = (Sie)
frame-pages = Seiten
frame-remove = Entfernen
frame-undo = Rückgängig
frame-done-undone = Die Änderung wurde rückgängig gemacht.
frame-done-model = Gespeichert. Die nächste Frage wird so beantwortet.
