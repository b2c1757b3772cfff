account-keys-lead = For your programs. A key can do what you can do in boxes where you are an admin or owner.
account-new-key = New key
account-your-new-key = Your new key
account-copy-now = Copy it now. It is not shown again, and nobody can look it up.
account-copy-key = Copy key
account-what-for = What it is for
account-expires = Expires
account-in-30-days = in 30 days
account-in-90-days = in 90 days
account-in-a-year = in a year
account-never = never
account-works-in = Works in
account-all-boxes = all your boxes, including future ones
account-only-these = only these:
account-not-as = (as { $role } you cannot use the API)
account-may = May
account-visible-hint = A key that is visible in a web page should only be able to search.
account-sites = Web sites whose pages may use it
account-sites-hint = Only for a key in web pages, such as that of the <a href="/account/integrations">chat for your site</a>: one site per line. Leave it empty for programs.
account-on-pages-of = on pages of { $sites }
account-create-key = Create key
account-no-keys = No keys yet.
account-keys = Keys
account-key = Key
account-last-used = Last used
account-state = State
account-since-small = since
account-revoke-confirm = Revoke the key { $name }? Programs that use it stop working.
account-revoke = Revoke
account-programs = Programs with access
account-program = Program
account-expires-unless = Expires unless used by
account-end-confirm = End the access of { $name }? It cannot continue until you allow it again.
account-use-it = Use it
account-certificate = This server uses a self-signed certificate: <a href="/account/certificate" download>download quire-cert.pem</a> so that programs trust it.
account-keep-secret = Keep keys out of URLs and public code, and out of web pages unless they name the site. A key that is sent without HTTPS or in a URL is marked here.
account-all-your-boxes = All your boxes
account-no-boxes-left = No boxes left
account-exposed-url = Sent inside a URL on { $when }. Others may have seen it: revoke it and create a new one.
account-exposed-http = Sent over plain HTTP on { $when }. Others may have seen it: revoke it and create a new one.
account-state-active = active
account-state-expired = expired
account-state-revoked = revoked
account-may-search = search and ask questions
account-may-read = list boxes and files, read and download documents
account-may-write = add, change and delete files
account-may-manage = manage boxes, members and keys
account-you = You
account-plan = Plan
account-since = Since
account-change-password = Change password
account-set-a-password = Set a password
account-set-password = Set password
account-current-password = Current password
account-new-password = New password
account-password-hint = At least { $count } characters. This ends all your other sign-ins.
account-second-step = Second step
account-second-on = Your account asks for a code from your authenticator app after your password.
account-second-lead = A code from an authenticator app after your password, so that the password alone lets nobody in.
account-change = Change
account-second-set-up = Set up a second step
account-passkeys = Passkeys
account-passkeys-lead = Sign in with the fingerprint, face or PIN of your device, or with a security key, instead of your password.
account-passkeys-count = { $count ->
        [one] Your account has { $count } passkey to sign in with instead of your password.
       *[other] Your account has { $count } passkeys to sign in with instead of your password.
    }
account-passkeys-manage = Manage passkeys
account-your-passkeys = Your passkeys
account-no-passkeys = No passkeys yet.
account-passkey = Passkey
account-passkey-added = for { $host }, added <time datetime="{ $since-iso }">{ $since }</time>
account-passkey-used = last used <time datetime="{ $used-iso }">{ $used }</time>
account-passkey-add = Add a passkey
account-passkey-name-hint = What you will know it by, such as “Work laptop”.
account-passkey-remove = Remove a passkey
account-passkeys-address = Passkeys work only at an address with a name: open this server at its name, not at its IP address.
account-passkeys-most = You have { $count } passkeys, as many as an account can have. Remove one to add another.
account-passkeys-missing = Adding one needs JavaScript and a browser that supports passkeys.
account-sign-in-with = Sign in with { $provider }
account-connected = Your account is connected: you can sign in with { $provider }.
account-your-password = Your password
account-connect = Connect { $provider }
account-look = Look
account-colours = Colours in this browser
account-as-system = same as the system
account-light = light
account-dark = dark
account-language = Language
account-language-of-pages = Language of these pages
account-language-of-browser = same as the browser
account-set-language = Set language
account-language-hint = Documents, answers and the documentation stay in their own languages.
account-signed-in = Where you are signed in
account-here = here
account-session = from { $address }, since <time datetime="{ $since-iso }">{ $since }</time>, last seen <time datetime="{ $seen-iso }">{ $seen }</time>
account-end = End
account-end-which = the sign-in with { $browser } from { $address }
account-sign-out-everywhere = Sign out everywhere
account-recovery-codes = Recovery codes
account-your-recovery-codes = Your recovery codes
account-recovery-hint = Each lets you in once, if you lose your app. They are not shown again: keep them somewhere safe.
account-on = On
account-codes-left = Your account asks for a code when you sign in with your password. { $count ->
        [one] { $count } recovery code is left
       *[other] { $count } recovery codes are left
    }; to get new ones, turn it off and on again.
account-code = Code
account-turn-off = Turn off
account-set-up-app = Set up your app
account-scan = Scan this with an authenticator app, type the key below into one, or <a href="{ $link }">open the app with it</a> on this device.
account-type-key = Type this key into an authenticator app, or <a href="{ $link }">open the app with it</a> on this device.
account-qr = The key as a QR code
account-code-now = The code that it shows now
account-turn-on = Turn on
account-off = Off
account-set-up = Set up
account-let-in = Let { $name } in?
account-consent = A program that calls itself <strong>{ $name }</strong> asks to use your boxes as you. Anybody can choose that name: continue only if you have just connected it yourself.
account-it-may = It may
account-in = In
account-every-box = and every box of which you become an admin or the owner
account-back-to = You are sent back to
account-describes-itself = It describes itself at <code>{ $address }</code>
account-consent-hint = It cannot change or delete anything. Its requests use your units. You can revoke this at any time under Account, API keys.
account-allow = Let it in
account-decline = Decline
account-own-program = a program on your own machine
account-own-app = an app on your own machine ({ $name })
account-months = Months
account-units-this-month = Units this month
account-used-of = <strong>{ $used }</strong> of { $total } used
account-units-used = Units used
account-left = { $left } left; resets on <time datetime="{ $iso }">{ $when }</time>.
account-per-day = Per day
account-units-per-day = Units per day
account-chart = Units per day of { $month }; the highest day has { $top }
account-searches = searches
account-answers = answers
account-per-key = Per key
account-per-operation = Per operation
account-nothing-yet = Nothing yet.
account-calls = Calls
account-units = Units
account-operation = Operation
account-held = What you store and use
account-what = What
account-used-of-allowed = Used of allowed
account-raise-hint = An operator of this server can raise these limits.
account-rate = Rate limit now
account-requests-in-window = Requests in this window
account-resets = Resets
account-requests-of-account = Requests of your account
account-requests-of-key = Requests of key { $name }
account-key-named = Key { $name }
account-of = { $used } of { $total }
account-api-only = Only requests through the API count.
account-boxes-owned = Boxes you own
account-files-in-them = Files in them
account-files-waiting = Files waiting to be processed
account-bar = Day { $day }: { $searches } for searches, { $answers } for answers
account-dashboard = Dashboard
account-operation-search = Searches
account-operation-chat = Answers
account-operation-embeddings = Embeddings
account-operation-rerank = Reranking
account-your-account = Your account
account-webhooks-lead = Notify your programs when something happens in your boxes. <a href="/docs/webhooks">How receivers verify them</a>.
account-new-secret = New secret
account-the-secret = The secret of the webhook
account-secret-hint = The receiver checks signatures with it. Copy it now: it is not shown again.
account-copy-secret = Copy secret
account-webhooks-off = This server does not send events; an operator can enable them with the setting <code>webhooks.enabled</code>.
account-stopped = stopped by its receiver
account-events = Events
account-queue = Queue
account-deliveries = Latest deliveries
account-delivered = delivered
account-failed = failed
account-send-again = Send again
account-send-again-which = number { $number }
account-rotate-confirm = Make a new secret? The old one also stays valid for a day.
account-webhook-delete-confirm = Delete this webhook? Waiting events will not be sent.
account-delete = Delete
account-no-webhooks = No webhooks yet.
account-new-webhook = New webhook
account-address = Address
account-all-api-boxes = all boxes whose API you may use
account-create-webhook = Create webhook
account-attempt-delivered = delivered ({ $status }) in { $took } ms
account-attempt-refused = the receiver answered { $status }
account-attempt-silent = no answer
account-event-ready = a file is ready
account-event-warnings = a file is ready, with warnings
account-event-failed = a file could not be read
account-event-replaced = a file has a new version
account-event-deleted = a file was deleted
account-event-exposed = a key was sent where others may see it
account-event-synced = a source of a box was synchronized
account-event-language = a box switched to the model for its languages
account-event-unanswered = a question found nothing in a box
account-webhook-all = all your boxes
account-events-waiting = { $count ->
        [one] { $count } event waiting
       *[other] { $count } events waiting
    }
account-integrations-lead = How other programs use this server. Where it says <code>quire_…</code>, put a key of yours: <a href="/account/keys">API keys</a>. <a href="/docs/integrations">Connect other programs</a> says more.
account-integrations-none = Programs use boxes of which you are an admin or the owner, and you have none yet: put the id of one where it says <code>BOX_ID</code>.
account-show = Show
account-integrations-certificate = This server uses a self-signed certificate. Tell each program to trust it: <a href="/account/certificate" download>download quire-cert.pem</a>. Assistants in the cloud, such as Claude and ChatGPT on the web, need a publicly trusted certificate and an address that they can reach.
account-copy-what = { $what } for { $program }
account-playground-lead = Try the API. Requests are real: they change what they say, and searches and answers cost units. <a href="/docs/api">The API reference</a> explains each of them.
account-request = Request
account-api-key = API key
account-playground-key = One of <a href="/account/keys">your keys</a>. It is sent to this server only and forgotten when you leave the page.
account-body = Body
account-playground-script = Sending needs JavaScript, which is switched off in this browser.
account-send = Send
account-same-curl = The same with curl
account-the-curl = the curl command
account-answer = Answer
account-steps-claude = Settings, Connectors, Add custom connector: enter the address. Claude opens a page of this dashboard on which you let it in; it needs no key. In Claude Code, use the command.
account-steps-chatgpt = Settings, Apps &amp; Connectors, with developer mode on: create a connector with this address as its MCP server and OAuth as its authentication. You let it in on a page of this dashboard; it needs no key.
account-steps-cursor = Put this into ~/.cursor/mcp.json. Without the headers, Cursor asks you to let it in on a page of this dashboard. VS Code and others that have such a file take the same.
account-steps-open-webui = Admin Settings, Connections, OpenAI API: the address and a key. Every box is then a model whose answers have citations. Under Documents, the same address serves as embedding engine (OpenAI) and content extraction engine (External), and the second one as external reranker.
account-steps-dify = Knowledge, External Knowledge API: add this endpoint with a key. Then connect an external knowledge base with the id of the box.
account-steps-n8n = Add the node MCP Client Tool with this endpoint, HTTP Streamable as its transport, and bearer authentication with a key. The HTTP Request node works with the API.
account-steps-widget = A chat for your site. Create a key for this box that can only search and that names your site, such as https://www.example.org. Then put this tag with that key into your pages: they get a button that opens a chat about the box. Everybody who can see the pages can ask about everything in the box, and it uses your units.
account-steps-curl = Searches the box.
account-steps-python = The client is in sdk/python of the repository (quire-sdk).
account-steps-typescript = The client is in sdk/typescript of the repository (quire-sdk).
account-kind-assistants = Assistants
account-kind-platforms = Platforms
account-kind-pages = Your own pages
account-kind-own = Your own programs
account-copied-claude-code = Claude Code
account-copied-json = mcp.json
account-copied-reranker = Reranker
account-copied-endpoint = Endpoint
account-copied-knowledge = Knowledge id
account-copied-api = API
account-copied-tag = Tag
account-copied-command = Command
account-copied-environment = Environment
account-notices = Notifications
account-notices-lead = What needs your attention. Each one goes away once its cause does.
account-notices-none = Nothing needs your attention
account-notices-none-why = Files that cannot be read, units that run low and keys about to expire are shown here.
account-notice-now = now
account-notice-soon = soon
account-notice-failed = { $count ->
        [one] { $count } file in { $box } could not be read.
       *[other] { $count } files in { $box } could not be read.
    }
account-notice-few-units = { $left ->
        [one] { $left } unit is left until <time datetime="{ $iso }">{ $when }</time>.
       *[other] { $left } units are left until <time datetime="{ $iso }">{ $when }</time>.
    }
account-notice-no-units = No units are left. Searches and answers work again from <time datetime="{ $iso }">{ $when }</time>.
account-notice-key-expires = The key { $name } stops working on <time datetime="{ $iso }">{ $when }</time>.
account-notice-key-expired = The key { $name } stopped working on <time datetime="{ $iso }">{ $when }</time>.
account-notice-key-exposed = The key { $name } was sent where others could read it, on <time datetime="{ $iso }">{ $when }</time>. Replace it.
account-notice-show-files = Show the files
account-notice-show-usage = Show usage
account-notice-show-keys = Show the keys
