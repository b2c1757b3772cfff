frame-skip = Skip to content
frame-description = quire: search your documents, read them page by page and ask them questions.
frame-menu = Menu
frame-main = Main
frame-boxes = Boxes
frame-search = Search
frame-account = Account
frame-keys = API keys
frame-integrations = Integrations
frame-playground = Playground
frame-webhooks = Webhooks
frame-usage = Usage
frame-profile = Profile
frame-help = Help
frame-documentation = Documentation
frame-server = Server
frame-users = Users
frame-plans = Plans
frame-system = System
frame-audit = Audit log
frame-sign-out = Sign out
frame-box = Box
frame-files = Files
frame-chat = Chat
frame-members = Members
frame-questions = Questions
frame-settings = Settings
frame-page = Page
frame-previous = Previous
frame-next = Next
frame-close = Close
frame-start = Go to the start page
frame-request = Request { $id }
frame-role-viewer = viewer
frame-role-editor = editor
frame-role-admin = admin
frame-role-owner = owner
frame-may-viewer = read, search and chat
frame-may-editor = also upload and delete files
frame-may-admin = also manage members and settings, and use the API
frame-may-owner = also delete the box or hand it over
frame-count-files = { $count ->
        [one] { $count } file
       *[other] { $count } files
    }
frame-count-boxes = { $count ->
        [one] in { $count } box
       *[other] in { $count } boxes
    }
frame-count-pages = { $count ->
        [one] { $count } page
       *[other] { $count } pages
    }
frame-count-members = { $count ->
        [one] { $count } member
       *[other] { $count } members
    }
frame-count-passages = { $count ->
        [one] { $count } passage
       *[other] { $count } passages
    }
frame-count-vectors = { $count ->
        [one] { $count } vector
       *[other] { $count } vectors
    }
frame-count-units = { $count ->
        [one] { $count } unit
       *[other] { $count } units
    }
frame-count-calls = { $count ->
        [one] { $count } call
       *[other] { $count } calls
    }
frame-size-b = { $size } B
frame-size-kb = { $size } KB
frame-size-mb = { $size } MB
frame-size-gb = { $size } GB
frame-size-tb = { $size } TB
frame-kind-mail = Mail
frame-kind-picture = Picture
frame-kind-text = Text
frame-kind-file = File
frame-browser-on = { $browser } on { $system }
frame-browser-unknown = An unknown browser
frame-refused = You are not allowed to do this
frame-too-many = Too many attempts
frame-sign-in-first = Sign in first
frame-no-units = Not enough units left
frame-not-now = This cannot be done now
frame-no-page = This address has no page
frame-no-model = The language model cannot be reached
frame-wrong-request = Something is wrong with the request
frame-done-renamed = The box has been renamed.
frame-done-language = The language has been changed. If that changes the model, the index is rebuilt; the box can be used meanwhile.
frame-done-box-deleted = The box and everything in it have been deleted.
frame-done-handed-over = The box has been handed over.
frame-done-member-added = The member has been added.
frame-done-member-changed = The role has been changed, effective from the next request.
frame-done-member-removed = The member has been removed.
frame-done-shared = Everybody in this box can now read the conversation as it is.
frame-done-unshared = The conversation is yours alone again.
frame-done-conversation-deleted = The conversation has been deleted.
frame-done-expected = What is right for the question has been saved.
frame-done-question-removed = The question has been removed from the evaluation set.
frame-done-left = You have left the box.
frame-done-withdrawn = The invitation has been withdrawn.
frame-done-file-changed = The file has been changed.
frame-done-added = The file has been added and is being processed.
frame-done-read-again = The file is being processed again.
frame-done-key-revoked = The key has been revoked, effective from the next request.
frame-done-program-revoked = The program no longer has access, effective from the next request.
frame-done-webhook-deleted = The webhook has been deleted.
frame-done-replayed = The event is being sent again.
frame-done-profile = Your profile has been saved.
frame-done-password = Your password has been changed, and all your other sign-ins have ended.
frame-done-second-step-removed = The second step has been turned off.
frame-done-passkey-added = The passkey has been added; you can now sign in with it.
frame-done-passkey-removed = The passkey has been removed.
frame-done-session-ended = That sign-in has ended.
frame-done-connected = Your account is connected; you can now sign in that way.
frame-done-confirmed = The address is confirmed; open invitations for it have taken effect.
frame-done-offered = The next person who signs in with this address at the provider gets the account.
frame-done-kept = The hand-over is cancelled; the account stays as it was.
frame-done-unlocked = The account is unlocked; the next sign-in need not wait.
frame-done-user-changed = The account has been changed.
frame-done-plan = The plan has been saved.
frame-done-signed-out = You are signed out.
frame-done-signed-out-everywhere = You are signed out everywhere.
frame-name = Name
frame-email = E-mail address
frame-password = Password
frame-copy = Copy
frame-save = Save
frame-role = Role
frame-actions = Actions
frame-you = (you)
frame-pages = Pages
frame-remove = Remove
frame-undo = Undo
frame-done-undone = The change has been undone.
frame-done-model = Saved. The next question is answered this way.
