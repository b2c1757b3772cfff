command-next-steps =
    quire bewahrt Dokumente in Boxen auf und stellt sie über HTTPS bereit: Suche, Volltext, Fragen und Antworten.

      quire quickstart                       ausprobieren: legt Konto, Box und Schlüssel an und startet den Server
      quire serve --data DIR                 Server starten; vorher: `quire user add`, `box add` und `key add`
      quire doctor --data DIR                eine Installation prüfen
      quire add BOX PATH…                    Dateien hochladen    (mit einem Schlüssel in QUIRE_API_KEY)
      quire sync BOX DIR                     Ordner und Box gleich halten
      quire search BOX QUERY                 in einer Box suchen
      quire ask BOX QUESTION                 eine Box fragen

    `quire --help` zeigt alle Befehle, `quire BEFEHL --help` erklärt einen.
command-ready =
    quire { $version } ist bereit.

      Adresse    { $url }
      Konto      { $account }
      Box        { $box } ({ $id })
      API-Key    { $key }
                 wird nur einmal angezeigt; gilt bis { $expires } oder bis der nächste quickstart ihn ersetzt

    { $dashboard }

    Die API ausprobieren:

      { $check }

    Die Box enthält die Dokumentation von quire. Darin suchen:

      { $search }

    Eine Frage stellen und eigene Dokumente hinzufügen:

      { $export }
      { $ask }
      { $add }

    Alles liegt in { $data }. Strg-C beendet den Server.
command-set-up-link = Richten Sie das Dashboard mit diesem Link ein (er gilt einmal): { $link }
command-dashboard-at = Das Dashboard ist unter { $url }
command-created-folder = { $folder } wurde angelegt
command-error = Fehler:
command-because = Ursache: { $cause }
command-type-yes = Zum Bestätigen { $yes } eingeben:
command-yes = ja

command-preparing = Datenordner wird vorbereitet
command-loading = Modelle werden geladen und Boxen geöffnet
command-processing-sample = Beispieldokumente werden verarbeitet
command-asking = Fragt
command-asking-server = Server wird gefragt
command-searching = Sucht
command-checking = Prüft
command-checking-model = { $name } wird geprüft
command-fetching = { $name } wird geholt
command-copying = Kopiert
command-copying-originals = Originale
command-copying-boxes = Boxen
command-restoring = Stellt wieder her
command-copying-records = Datensätze werden kopiert
command-switching = Beide Kopien werden verglichen, dann wird umgeschaltet
command-deleting = Löscht
command-deleting-file = Datei { $number } von { $count } wird gelöscht
command-exporting = Exportiert
command-importing = Importiert
command-reading-back = Liest zurück
command-comparing-box = Vergleicht mit dem Inhalt der Box
command-comparing-folder = Vergleicht den Ordner mit der Box
command-listing = Dateien werden aufgelistet
command-uploading = Lädt hoch
command-processing = Verarbeitet
command-rebuilding = Baut neu auf
command-files = Dateien
command-originals = Originale
command-questions = Fragen
command-busy = Der Server ist ausgelastet oder sein Limit ist erreicht; neuer Versuch in { $count } s
command-watching = { $folder } wird beobachtet; Strg-C beendet es

command-place = { $file }, Seite { $page }
command-note = Hinweis: { $text }
command-nothing-found = Nichts gefunden.
command-units =
    { $count ->
        [one] 1 Einheit
       *[other] { $count } Einheiten
    }
command-units-left = { $units }, noch { $count } in diesem Monat

command-answerer-right = { $model }: { $right } von { $count } richtig
command-answerer-cannot = kann es nicht: solche Anfragen erhalten einen Fehler
command-box-added = Box { $box } ({ $id }) wurde hinzugefügt
command-box-language = Die Sprache von { $box } ist jetzt { $language }
command-box-language-rebuilt = Die Sprache von { $box } ist jetzt { $language }; der Server baut den Index neu auf, die Box bleibt währenddessen nutzbar
command-no-boxes = Noch keine Boxen; mit `quire box add NAME --owner EMAIL` kommt eine hinzu.
command-no-usable-box = Dieser Schlüssel kann keine Box nutzen: sein Benutzer muss Eigentümer oder Administrator einer Box sein.
command-granted = { $email } ist jetzt { $role } von { $box }
command-revoked-role = { $email } hat keine Rolle mehr in { $box }
command-moved-box = { $box } wurde von Cluster { $from } nach { $to } verschoben: { $files }
command-delete-box = Die Box { $box } und ihre { $count } Dateien endgültig löschen?
command-deleted-box = Box { $box } wurde gelöscht
command-exported = { $box } wurde nach { $file } exportiert: { $files } Dateien, { $passages } Passagen
command-exported-unread = { $said }; { $count } davon sind noch nicht verarbeitet und werden es nach dem Import
command-imported = Box { $box } ({ $id }) wurde für { $owner } importiert: { $files } Dateien, { $passages } Passagen
command-imported-other-model = Der Export wurde mit dem Modell { $before } indiziert, dieser Server nutzt { $model }: die { $count } Dateien werden neu verarbeitet, als wären sie gerade hochgeladen worden, und sind danach auffindbar.
command-imported-unread = { $count } Dateien waren noch nicht verarbeitet; sie stehen in der Warteschlange.
command-backed-up = { $from } wurde nach { $to } gesichert: { $files } Dateien, davon { $copied } kopiert ({ $megabytes } MB), die übrigen seit der vorigen Sicherung unverändert
command-backup-changed = { $count } Dateien haben sich währenddessen geändert; sie werden nach einer Wiederherstellung neu verarbeitet.
command-backup-damaged = { $count } Originale sind im Speicher und damit auch in der Sicherung beschädigt: siehe `quire doctor --scrub`
command-backup-sound = { $backup } vom { $when } ist unversehrt: { $files } Dateien
command-restored =
    { $backup } vom { $when } wurde in { $folder } wiederhergestellt: { $files } Dateien, alle mit ihren Prüfsummen verglichen.
    Start mit `quire serve --data { $folder }`.
command-migrated = { $records } Datensätze, { $originals } Originale und der Text von { $files } Dateien wurden übertragen; alles verglichen und gleich.
command-added-files = { $added } hinzugefügt, { $known } schon vorhanden, { $failed } fehlgeschlagen
command-no-files = Noch keine Dateien; mit `quire add BOX PATH…` kommen welche hinzu.
command-processing-page = in Arbeit { $page }/{ $pages }
command-deleted-file = { $name } wurde gelöscht: { $originals } Original, { $pages } Seiten, { $chunks } Passagen, { $vectors } Vektoren
command-new-key =
    { $key }

    Bewahren Sie ihn sicher auf: er wird nur einmal angezeigt, gespeichert ist nur sein Hash.
command-no-keys = Noch keine Schlüssel; mit `quire key add --user EMAIL` entsteht einer.
command-revoked-key = { $prefix } wurde widerrufen, wirksam ab der nächsten Anfrage
command-exposed = offengelegt
command-all = alle
command-anywhere = überall
command-none = keines
command-pulled = { $model } wurde geholt und geprüft: { $folder }
command-pulled-before = { $model } ist schon da und unversehrt: { $folder }
command-user-has = { $email } hat jetzt { $limits }
command-plan-gives = Der Tarif { $plan } gibt { $limits }
command-usual-units = die üblichen Einheiten im Monat
command-units-a-month = { $count } Einheiten im Monat
command-gone-back = Zurück zum Index von { $model }; { $count } Dateien werden neu verarbeitet.
command-reindexed = { $files } Dateien ({ $passages } Passagen) wurden mit { $model } indiziert (vorher: { $before }); { $overlap }. `quire reindex BOX --back` geht zurück.
command-overlap = { $share } % dessen, was die letzten { $count } Suchen fanden, findet auch der neue Index
command-no-queries = es gab keine neueren Suchen zum Vergleichen
command-user-added = { $email } ({ $id }) wurde hinzugefügt
command-no-users = Noch keine Konten; mit `quire user add EMAIL` kommt eines hinzu.
command-default = Standard
command-user-disabled = gesperrt
command-user-unconfirmed = Adresse nicht bestätigt
command-user-active = aktiv
command-disabled = { $email } wurde gesperrt, wirksam ab der nächsten Anfrage
command-enabled = { $email } wurde freigegeben, wirksam ab der nächsten Anfrage
command-unlocked = { $email } wurde entsperrt: die nächste Anmeldung muss nicht warten
command-confirmed = { $email } ist bestätigt: offene Einladungen für diese Adresse gelten jetzt
command-logged-questions = { $count } Fragen stehen in { $file }; prüfen und berichtigen Sie, was jede finden soll, bevor Sie sie verwenden
command-sync-gone = { $count } Dateien aus { $source } gibt es dort nicht mehr. Aus der Box löschen?
command-sync-held-back = { $count } Dateien sind nicht mehr im Ordner; sie bleiben in der Box, bis `quire sync` mit --yes läuft
command-synced = { $added } hinzugefügt, { $changed } geändert, { $renamed } umbenannt, { $removed } entfernt, { $failed } fehlgeschlagen, { $unchanged } unverändert
command-skipped = { $count } übersprungen
command-more-skipped = …; --json zeigt alle

command-head-name = NAME
command-head-id = ID
command-head-language = SPRACHE
command-head-created = ANGELEGT
command-head-members = MITGLIEDER
command-head-role = ROLLE
command-head-status = STATUS
command-head-pages = SEITEN
command-head-size = GRÖSSE
command-head-note = HINWEIS
command-head-prefix = PRÄFIX
command-head-account = KONTO
command-head-state = ZUSTAND
command-head-last-used = ZULETZT BENUTZT
command-head-expires = LÄUFT AB
command-head-boxes = BOXEN
command-head-may = DARF
command-head-from = VON
command-head-email = E-MAIL
command-head-plan = TARIF
command-head-units = EINHEITEN/MONAT
command-head-bounds = GRENZEN
command-head-used-as = DIENT ALS
command-head-in-use-as = IN GEBRAUCH ALS
command-head-model = MODELL
command-head-version = VERSION
command-head-place = ORT
command-head-what = WAS
command-head-it = PROBE
command-head-result = ERGEBNIS
command-head-cites = ZITIERT
command-head-first-word = ERSTES WORT
command-head-whole = GESAMT
command-head-said = SAGTE
command-no = nein
command-trial-prose = antwortet aus Fließtext
command-trial-table = antwortet aus einer Tabelle
command-trial-german = antwortet auf Deutsch
command-trial-none = sagt, wenn es keine Antwort gibt
command-trial-json = antwortet in JSON
