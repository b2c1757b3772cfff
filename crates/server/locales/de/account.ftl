account-keys-lead = Für Ihre Programme. Ein Schlüssel darf, was Sie in Boxen dürfen, deren Verwalter oder Besitzer Sie sind.
account-new-key = Neuer Schlüssel
account-your-new-key = Ihr neuer Schlüssel
account-copy-now = Kopieren Sie ihn jetzt. Er wird nicht noch einmal angezeigt, und niemand kann ihn nachsehen.
account-copy-key = Schlüssel kopieren
account-what-for = Wofür er ist
account-expires = Läuft ab
account-in-30-days = in 30 Tagen
account-in-90-days = in 90 Tagen
account-in-a-year = in einem Jahr
account-never = nie
account-works-in = Gilt in
account-all-boxes = allen Ihren Boxen, auch künftigen
account-only-these = nur diesen:
account-not-as = (als { $role } können Sie die API nicht benutzen)
account-may = Darf
account-visible-hint = Ein Schlüssel, der in einer Webseite sichtbar ist, sollte nur suchen dürfen.
account-sites = Websites, deren Seiten ihn verwenden dürfen
account-sites-hint = Nur für einen Schlüssel in Webseiten, etwa den des <a href="/account/integrations">Chats für Ihre Website</a>: eine Website pro Zeile. Für Programme leer lassen.
account-on-pages-of = auf Seiten von { $sites }
account-create-key = Schlüssel anlegen
account-no-keys = Noch keine Schlüssel.
account-keys = Schlüssel
account-key = Schlüssel
account-last-used = Zuletzt benutzt
account-state = Zustand
account-since-small = seit
account-revoke-confirm = Den Schlüssel { $name } widerrufen? Programme, die ihn benutzen, funktionieren dann nicht mehr.
account-revoke = Widerrufen
account-programs = Programme mit Zugriff
account-program = Programm
account-expires-unless = Läuft ab, wenn nicht benutzt bis
account-end-confirm = Den Zugriff von { $name } beenden? Es kann erst weitermachen, wenn Sie es wieder erlauben.
account-use-it = So benutzen Sie ihn
account-certificate = Dieser Server benutzt ein selbst signiertes Zertifikat: <a href="/account/certificate" download>quire-cert.pem herunterladen</a>, damit Programme ihm vertrauen.
account-keep-secret = Halten Sie Schlüssel aus URLs und öffentlichem Code heraus, und aus Webseiten, sofern der Schlüssel die Website nicht nennt. Ein Schlüssel, der ohne HTTPS oder in einer URL gesendet wird, ist hier markiert.
account-all-your-boxes = Alle Ihre Boxen
account-no-boxes-left = Keine Boxen mehr
account-exposed-url = Am { $when } in einer URL gesendet. Andere können ihn gesehen haben: Widerrufen Sie ihn und legen Sie einen neuen an.
account-exposed-http = Am { $when } über unverschlüsseltes HTTP gesendet. Andere können ihn gesehen haben: Widerrufen Sie ihn und legen Sie einen neuen an.
account-state-active = aktiv
account-state-expired = abgelaufen
account-state-revoked = widerrufen
account-may-search = suchen und Fragen stellen
account-may-read = Boxen und Dateien auflisten, Dokumente lesen und herunterladen
account-may-write = Dateien hinzufügen, ändern und löschen
account-may-manage = Boxen, Mitglieder und Schlüssel verwalten
account-you = Sie
account-plan = Tarif
account-since = Seit
account-change-password = Passwort ändern
account-set-a-password = Passwort festlegen
account-set-password = Passwort festlegen
account-current-password = Aktuelles Passwort
account-new-password = Neues Passwort
account-password-hint = Mindestens { $count } Zeichen. Damit enden alle Ihre anderen Anmeldungen.
account-second-step = Zweiter Schritt
account-second-on = Ihr Konto fragt nach dem Passwort nach einem Code aus Ihrer Authentifizierungs-App.
account-second-lead = Ein Code aus einer Authentifizierungs-App nach dem Passwort, damit das Passwort allein niemanden einlässt.
account-change = Ändern
account-second-set-up = Zweiten Schritt einrichten
account-passkeys = Passkeys
account-passkeys-lead = Melden Sie sich mit Fingerabdruck, Gesicht oder PIN Ihres Geräts oder mit einem Sicherheitsschlüssel an, statt mit dem Passwort.
account-passkeys-count = { $count ->
        [one] Ihr Konto hat { $count } Passkey, mit dem Sie sich statt mit dem Passwort anmelden können.
       *[other] Ihr Konto hat { $count } Passkeys, mit denen Sie sich statt mit dem Passwort anmelden können.
    }
account-passkeys-manage = Passkeys verwalten
account-your-passkeys = Ihre Passkeys
account-no-passkeys = Noch keine Passkeys.
account-passkey = Passkey
account-passkey-added = für { $host }, hinzugefügt <time datetime="{ $since-iso }">{ $since }</time>
account-passkey-used = zuletzt benutzt <time datetime="{ $used-iso }">{ $used }</time>
account-passkey-add = Passkey hinzufügen
account-passkey-name-hint = Woran Sie ihn erkennen, zum Beispiel „Arbeitslaptop“.
account-passkey-remove = Passkey entfernen
account-passkeys-address = Passkeys funktionieren nur an einer Adresse mit Namen: Öffnen Sie diesen Server unter seinem Namen, nicht unter seiner IP-Adresse.
account-passkeys-most = Sie haben { $count } Passkeys, so viele, wie ein Konto haben kann. Entfernen Sie einen, um einen anderen hinzuzufügen.
account-passkeys-missing = Zum Hinzufügen braucht es JavaScript und einen Browser, der Passkeys kennt.
account-sign-in-with = Anmelden mit { $provider }
account-connected = Ihr Konto ist verbunden: Sie können sich mit { $provider } anmelden.
account-your-password = Ihr Passwort
account-connect = { $provider } verbinden
account-look = Aussehen
account-colours = Farben in diesem Browser
account-as-system = wie das System
account-light = hell
account-dark = dunkel
account-language = Sprache
account-language-of-pages = Sprache dieser Seiten
account-language-of-browser = wie der Browser
account-set-language = Sprache festlegen
account-language-hint = Dokumente, Antworten und die Dokumentation bleiben in ihren eigenen Sprachen.
account-signed-in = Wo Sie angemeldet sind
account-here = hier
account-session = von { $address }, seit <time datetime="{ $since-iso }">{ $since }</time>, zuletzt gesehen <time datetime="{ $seen-iso }">{ $seen }</time>
account-end = Beenden
account-end-which = der Anmeldung mit { $browser } von { $address }
account-sign-out-everywhere = Überall abmelden
account-recovery-codes = Wiederherstellungscodes
account-your-recovery-codes = Ihre Wiederherstellungscodes
account-recovery-hint = Jeder lässt Sie einmal hinein, falls Sie Ihre App verlieren. Sie werden nicht noch einmal angezeigt: Bewahren Sie sie sicher auf.
account-on = Eingeschaltet
account-codes-left = Ihr Konto fragt nach einem Code, wenn Sie sich mit dem Passwort anmelden. { $count ->
        [one] { $count } Wiederherstellungscode ist übrig
       *[other] { $count } Wiederherstellungscodes sind übrig
    }; um neue zu bekommen, schalten Sie aus und wieder ein.
account-code = Code
account-turn-off = Ausschalten
account-set-up-app = App einrichten
account-scan = Scannen Sie dies mit einer Authentifizierungs-App, geben Sie den Schlüssel unten ein oder <a href="{ $link }">öffnen Sie die App damit</a> auf diesem Gerät.
account-type-key = Geben Sie diesen Schlüssel in eine Authentifizierungs-App ein oder <a href="{ $link }">öffnen Sie die App damit</a> auf diesem Gerät.
account-qr = Der Schlüssel als QR-Code
account-code-now = Der Code, den sie jetzt zeigt
account-turn-on = Einschalten
account-off = Ausgeschaltet
account-set-up = Einrichten
account-let-in = { $name } einlassen?
account-consent = Ein Programm, das sich <strong>{ $name }</strong> nennt, möchte Ihre Boxen in Ihrem Namen benutzen. Diesen Namen kann jeder wählen: Fahren Sie nur fort, wenn Sie es soeben selbst verbunden haben.
account-it-may = Es darf
account-in = In
account-every-box = und jede Box, deren Verwalter oder Besitzer Sie werden
account-back-to = Sie werden zurückgeschickt zu
account-describes-itself = Es beschreibt sich selbst unter <code>{ $address }</code>
account-consent-hint = Es kann nichts ändern oder löschen. Seine Anfragen verbrauchen Ihre Einheiten. Sie können dies jederzeit unter Konto, API-Schlüssel widerrufen.
account-allow = Einlassen
account-decline = Ablehnen
account-own-program = einem Programm auf Ihrem eigenen Rechner
account-own-app = einer App auf Ihrem eigenen Rechner ({ $name })
account-months = Monate
account-units-this-month = Einheiten in diesem Monat
account-used-of = <strong>{ $used }</strong> von { $total } verbraucht
account-units-used = Verbrauchte Einheiten
account-left = { $left } übrig; neu am <time datetime="{ $iso }">{ $when }</time>.
account-per-day = Pro Tag
account-units-per-day = Einheiten pro Tag
account-chart = Einheiten pro Tag im Monat { $month }; der höchste Tag hat { $top }
account-searches = Suchen
account-answers = Antworten
account-per-key = Pro Schlüssel
account-per-operation = Pro Vorgang
account-nothing-yet = Noch nichts.
account-calls = Aufrufe
account-units = Einheiten
account-operation = Vorgang
account-held = Was Sie speichern und benutzen
account-what = Was
account-used-of-allowed = Benutzt von erlaubt
account-raise-hint = Ein Betreiber dieses Servers kann diese Grenzen anheben.
account-rate = Anfragelimit jetzt
account-requests-in-window = Anfragen in diesem Zeitfenster
account-resets = Beginnt neu
account-requests-of-account = Anfragen Ihres Kontos
account-requests-of-key = Anfragen des Schlüssels { $name }
account-key-named = Schlüssel { $name }
account-of = { $used } von { $total }
account-api-only = Nur Anfragen über die API zählen.
account-boxes-owned = Boxen, die Ihnen gehören
account-files-in-them = Dateien darin
account-files-waiting = Dateien, die auf Verarbeitung warten
account-bar = Tag { $day }: { $searches } für Suchen, { $answers } für Antworten
account-dashboard = Dashboard
account-operation-search = Suchen
account-operation-chat = Antworten
account-operation-embeddings = Embeddings
account-operation-rerank = Neuordnung
account-your-account = Ihr Konto
account-webhooks-lead = Benachrichtigen Sie Ihre Programme, wenn in Ihren Boxen etwas geschieht. <a href="/docs/webhooks">Wie Empfänger sie prüfen</a>.
account-new-secret = Neues Geheimnis
account-the-secret = Das Geheimnis des Webhooks
account-secret-hint = Der Empfänger prüft damit Signaturen. Kopieren Sie es jetzt: Es wird nicht noch einmal angezeigt.
account-copy-secret = Geheimnis kopieren
account-webhooks-off = Dieser Server sendet keine Ereignisse; ein Betreiber kann sie mit der Einstellung <code>webhooks.enabled</code> einschalten.
account-stopped = von seinem Empfänger beendet
account-events = Ereignisse
account-queue = Warteschlange
account-deliveries = Letzte Zustellungen
account-delivered = zugestellt
account-failed = fehlgeschlagen
account-send-again = Erneut senden
account-send-again-which = Nummer { $number }
account-rotate-confirm = Neues Geheimnis erzeugen? Das alte bleibt noch einen Tag gültig.
account-webhook-delete-confirm = Diesen Webhook löschen? Wartende Ereignisse werden nicht gesendet.
account-delete = Löschen
account-no-webhooks = Noch keine Webhooks.
account-new-webhook = Neuer Webhook
account-address = Adresse
account-all-api-boxes = allen Boxen, deren API Sie benutzen dürfen
account-create-webhook = Webhook anlegen
account-attempt-delivered = zugestellt ({ $status }) in { $took } ms
account-attempt-refused = der Empfänger antwortete { $status }
account-attempt-silent = keine Antwort
account-event-ready = eine Datei ist bereit
account-event-warnings = eine Datei ist bereit, mit Warnungen
account-event-failed = eine Datei konnte nicht gelesen werden
account-event-replaced = eine Datei hat eine neue Version
account-event-deleted = eine Datei wurde gelöscht
account-event-exposed = ein Schlüssel wurde gesendet, wo andere ihn sehen können
account-event-synced = eine Quelle einer Box wurde abgeglichen
account-event-language = eine Box wechselte zum Modell für ihre Sprachen
account-event-unanswered = eine Frage fand nichts in einer Box
account-webhook-all = alle Ihre Boxen
account-events-waiting = { $count ->
        [one] { $count } Ereignis wartet
       *[other] { $count } Ereignisse warten
    }
account-integrations-lead = Wie andere Programme diesen Server benutzen. Wo <code>quire_…</code> steht, setzen Sie einen Ihrer Schlüssel ein: <a href="/account/keys">API-Schlüssel</a>. Mehr dazu unter <a href="/docs/integrations">Connect other programs</a>.
account-integrations-none = Programme benutzen Boxen, deren Verwalter oder Besitzer Sie sind, und Sie haben noch keine: Setzen Sie die Kennung einer Box ein, wo <code>BOX_ID</code> steht.
account-show = Anzeigen
account-integrations-certificate = Dieser Server benutzt ein selbst signiertes Zertifikat. Sagen Sie jedem Programm, dass es ihm vertrauen soll: <a href="/account/certificate" download>quire-cert.pem herunterladen</a>. Assistenten in der Cloud, etwa Claude und ChatGPT im Web, brauchen ein öffentlich anerkanntes Zertifikat und eine Adresse, die sie erreichen können.
account-copy-what = { $what } für { $program }
account-playground-lead = Probieren Sie die API aus. Anfragen sind echt: Sie ändern, was sie sagen, und Suchen und Antworten kosten Einheiten. <a href="/docs/api">Die API-Referenz</a> erklärt jede von ihnen.
account-request = Anfrage
account-api-key = API-Schlüssel
account-playground-key = Einer <a href="/account/keys">Ihrer Schlüssel</a>. Er wird nur an diesen Server gesendet und vergessen, wenn Sie die Seite verlassen.
account-body = Inhalt
account-playground-script = Zum Senden wird JavaScript gebraucht, das in diesem Browser ausgeschaltet ist.
account-send = Senden
account-same-curl = Dasselbe mit curl
account-the-curl = den curl-Befehl
account-answer = Antwort
account-steps-claude = Settings, Connectors, Add custom connector: Geben Sie die Adresse ein. Claude öffnet eine Seite dieses Dashboards, auf der Sie es einlassen; es braucht keinen Schlüssel. In Claude Code benutzen Sie den Befehl.
account-steps-chatgpt = Settings, Apps &amp; Connectors, mit eingeschaltetem Entwicklermodus: Legen Sie einen Connector mit dieser Adresse als MCP-Server und OAuth als Authentifizierung an. Sie lassen es auf einer Seite dieses Dashboards ein; es braucht keinen Schlüssel.
account-steps-cursor = Schreiben Sie dies in ~/.cursor/mcp.json. Ohne die Header bittet Cursor Sie, es auf einer Seite dieses Dashboards einzulassen. VS Code und andere mit einer solchen Datei nehmen dasselbe.
account-steps-open-webui = Admin Settings, Connections, OpenAI API: die Adresse und ein Schlüssel. Jede Box ist dann ein Modell, dessen Antworten Quellenangaben haben. Unter Documents dient dieselbe Adresse als Embedding-Engine (OpenAI) und zur Inhaltserkennung (External), die zweite als externer Reranker.
account-steps-dify = Knowledge, External Knowledge API: Fügen Sie diesen Endpunkt mit einem Schlüssel hinzu. Verbinden Sie dann eine externe Wissensbasis mit der Kennung der Box.
account-steps-n8n = Fügen Sie den Knoten MCP Client Tool mit diesem Endpunkt, HTTP Streamable als Transport und Bearer-Authentifizierung mit einem Schlüssel hinzu. Der Knoten HTTP Request arbeitet mit der API.
account-steps-widget = Ein Chat für Ihre Website. Erstellen Sie einen Schlüssel für diese Box, der nur suchen darf und Ihre Website nennt, etwa https://www.example.org. Setzen Sie dann dieses Tag mit dem Schlüssel in Ihre Seiten: Sie erhalten eine Schaltfläche, die einen Chat über die Box öffnet. Wer die Seiten sehen kann, kann nach allem in der Box fragen, und das verbraucht Ihre Einheiten.
account-steps-curl = Durchsucht die Box.
account-steps-python = Der Client liegt in sdk/python des Repositorys (quire-sdk).
account-steps-typescript = Der Client liegt in sdk/typescript des Repositorys (quire-sdk).
account-kind-assistants = Assistenten
account-kind-platforms = Plattformen
account-kind-pages = Ihre eigenen Seiten
account-kind-own = Ihre eigenen Programme
account-copied-claude-code = Claude Code
account-copied-json = mcp.json
account-copied-reranker = Reranker
account-copied-endpoint = Endpunkt
account-copied-knowledge = Kennung der Wissensbasis
account-copied-api = API
account-copied-tag = Tag
account-copied-command = Befehl
account-copied-environment = Umgebung
account-notices = Benachrichtigungen
account-notices-lead = Was Ihre Aufmerksamkeit braucht. Jede Meldung verschwindet mit ihrer Ursache.
account-notices-none = Nichts braucht Ihre Aufmerksamkeit
account-notices-none-why = Hier erscheinen Dateien, die nicht gelesen werden konnten, knappe Einheiten und Schlüssel, die bald ablaufen.
account-notice-now = jetzt
account-notice-soon = bald
account-notice-failed = { $count ->
        [one] { $count } Datei in { $box } konnte nicht gelesen werden.
       *[other] { $count } Dateien in { $box } konnten nicht gelesen werden.
    }
account-notice-few-units = { $left ->
        [one] Bis <time datetime="{ $iso }">{ $when }</time> ist noch { $left } Einheit übrig.
       *[other] Bis <time datetime="{ $iso }">{ $when }</time> sind noch { $left } Einheiten übrig.
    }
account-notice-no-units = Es sind keine Einheiten mehr übrig. Suchen und Antworten gehen wieder ab <time datetime="{ $iso }">{ $when }</time>.
account-notice-key-expires = Der Schlüssel { $name } gilt nur noch bis <time datetime="{ $iso }">{ $when }</time>.
account-notice-key-expired = Der Schlüssel { $name } gilt seit <time datetime="{ $iso }">{ $when }</time> nicht mehr.
account-notice-key-exposed = Der Schlüssel { $name } wurde am <time datetime="{ $iso }">{ $when }</time> so gesendet, dass andere ihn lesen konnten. Ersetzen Sie ihn.
account-notice-show-files = Dateien zeigen
account-notice-show-usage = Nutzung zeigen
account-notice-show-keys = Schlüssel zeigen
