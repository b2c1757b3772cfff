command-next-steps =
    quire keeps documents in boxes and serves them over HTTPS: search, full text, questions and answers.

      quire quickstart                       try it: creates an account, a box and a key, then serves
      quire serve --data DIR                 run a server; `quire user add`, `box add` and `key add` prepare it
      quire doctor --data DIR                check an installation
      quire add BOX PATH…                    upload files    (with a key in QUIRE_API_KEY)
      quire sync BOX DIR                     keep a folder and a box the same
      quire search BOX QUERY                 search a box
      quire ask BOX QUESTION                 ask a box

    `quire --help` lists every command, `quire COMMAND --help` explains one.
command-ready =
    quire { $version } is ready.

      Address    { $url }
      Account    { $account }
      Box        { $box } ({ $id })
      API key    { $key }
                 shown only once; works until { $expires }, or until the next quickstart replaces it

    { $dashboard }

    Try the API:

      { $check }

    The box holds quire's own documentation. Search it:

      { $search }

    Ask it a question, and add documents of your own:

      { $export }
      { $ask }
      { $add }

    Everything is kept in { $data }. Ctrl-C stops the server.
command-set-up-link = Set up the dashboard with this link (it works once): { $link }
command-dashboard-at = The dashboard is at { $url }
command-created-folder = Created { $folder }
command-error = error:
command-because = because: { $cause }
command-type-yes = Type { $yes } to confirm:
command-yes = yes

command-preparing = Preparing the data folder
command-loading = Loading the models and opening the boxes
command-processing-sample = Processing the sample documents
command-asking = Asking
command-asking-server = Asking the server
command-searching = Searching
command-checking = Checking
command-checking-model = Checking { $name }
command-fetching = Fetching { $name }
command-copying = Copying
command-copying-originals = Originals
command-copying-boxes = Boxes
command-restoring = Restoring
command-copying-records = Copying records
command-switching = Comparing both copies and switching over
command-deleting = Deleting
command-deleting-file = Deleting file { $number } of { $count }
command-exporting = Exporting
command-importing = Importing
command-reading-back = Reading it back
command-comparing-box = Comparing with what the box holds
command-comparing-folder = Comparing the folder with the box
command-listing = Listing the files
command-uploading = Uploading
command-processing = Processing
command-rebuilding = Rebuilding
command-files = files
command-originals = originals
command-questions = questions
command-busy = The server is busy or its limit is reached; trying again in { $count } s
command-watching = Watching { $folder }; Ctrl-C ends it

command-place = { $file }, page { $page }
command-note = Note: { $text }
command-nothing-found = Nothing was found.
command-units =
    { $count ->
        [one] 1 unit
       *[other] { $count } units
    }
command-units-left = { $units }, { $count } left this month

command-answerer-right = { $model }: { $right } of { $count } right
command-answerer-cannot = it cannot: such requests get an error
command-box-added = Added the box { $box } ({ $id })
command-box-language = The language of { $box } is now { $language }
command-box-language-rebuilt = The language of { $box } is now { $language }; the server rebuilds its index, and the box can be used meanwhile
command-no-boxes = No boxes yet; add one with `quire box add NAME --owner EMAIL`.
command-no-usable-box = This key can use no box: its user must be an owner or admin of one.
command-granted = { $email } is now { $role } of { $box }
command-revoked-role = { $email } no longer has a role in { $box }
command-moved-box = Moved { $box } from shard { $from } to { $to }: { $files }
command-delete-box = Delete the box { $box } and its { $count } files permanently?
command-deleted-box = Deleted the box { $box }
command-exported = Exported { $box } to { $file }: { $files } files, { $passages } passages
command-exported-unread = { $said }; { $count } of them are not processed yet and will be processed after the import
command-imported = Imported the box { $box } ({ $id }) for { $owner }: { $files } files, { $passages } passages
command-imported-other-model = The bundle was indexed with the model { $before }, and this server uses { $model }: its { $count } files are processed again, as if they had just been uploaded, and can be found after that.
command-imported-unread = { $count } files had not been processed yet; they are in the queue.
command-backed-up = Backed up { $from } to { $to }: { $files } files, { $copied } of them copied ({ $megabytes } MB), the others unchanged since the previous backup
command-backup-changed = { $count } files changed in the meantime; they are processed again after a restore.
command-backup-damaged = { $count } originals are damaged in the store and so in the backup: see `quire doctor --scrub`
command-backup-sound = { $backup } of { $when } is sound: { $files } files
command-restored =
    Restored { $backup } of { $when } into { $folder }: { $files } files, all compared with their checksums.
    Start it with `quire serve --data { $folder }`.
command-migrated = Moved { $records } records, { $originals } originals and the text of { $files } files; all compared equal.
command-added-files = { $added } added, { $known } already there, { $failed } failed
command-no-files = No files yet; add some with `quire add BOX PATH…`.
command-processing-page = processing { $page }/{ $pages }
command-deleted-file = Deleted { $name }: { $originals } original, { $pages } pages, { $chunks } chunks, { $vectors } vectors
command-new-key =
    { $key }

    Keep it safe: it is shown only once, and only a hash of it is stored.
command-no-keys = No keys yet; create one with `quire key add --user EMAIL`.
command-revoked-key = Revoked { $prefix }, effective from the next request
command-exposed = exposed
command-all = all
command-anywhere = anywhere
command-none = none
command-pulled = { $model } fetched and checked: { $folder }
command-pulled-before = { $model } is already here and intact: { $folder }
command-user-has = { $email } now has { $limits }
command-plan-gives = The plan { $plan } gives { $limits }
command-usual-units = the default units per month
command-units-a-month = { $count } units per month
command-gone-back = Switched back to the index from { $model }; { $count } files are processed again.
command-reindexed = Indexed { $files } files ({ $passages } passages) with { $model } (before: { $before }); { $overlap }. `quire reindex BOX --back` goes back.
command-overlap = { $share }% of what the last { $count } queries found is also found by the new index
command-no-queries = there were no recent queries to compare
command-user-added = Added { $email } ({ $id })
command-no-users = No accounts yet; add one with `quire user add EMAIL`.
command-default = default
command-user-disabled = disabled
command-user-unconfirmed = address not confirmed
command-user-active = active
command-disabled = Disabled { $email }, effective from the next request
command-enabled = Enabled { $email }, effective from the next request
command-unlocked = Unlocked { $email }: the next sign-in need not wait
command-confirmed = Confirmed { $email }: open invitations for this address have taken effect
command-logged-questions = { $count } questions are in { $file }; check and correct what each should find before you use them
command-sync-gone = { $count } files from { $source } no longer exist there. Delete them from the box?
command-sync-held-back = { $count } files are no longer in the folder; they stay in the box until `quire sync` runs again with --yes
command-synced = { $added } added, { $changed } changed, { $renamed } renamed, { $removed } removed, { $failed } failed, { $unchanged } unchanged
command-skipped = { $count } skipped
command-more-skipped = …; --json lists all of them

command-head-name = NAME
command-head-id = ID
command-head-language = LANGUAGE
command-head-created = CREATED
command-head-members = MEMBERS
command-head-role = ROLE
command-head-status = STATUS
command-head-pages = PAGES
command-head-size = SIZE
command-head-note = NOTE
command-head-prefix = PREFIX
command-head-account = ACCOUNT
command-head-state = STATE
command-head-last-used = LAST USED
command-head-expires = EXPIRES
command-head-boxes = BOXES
command-head-may = MAY
command-head-from = FROM
command-head-email = EMAIL
command-head-plan = PLAN
command-head-units = UNITS/MONTH
command-head-bounds = BOUNDS
command-head-used-as = USED AS
command-head-in-use-as = IN USE AS
command-head-model = MODEL
command-head-version = VERSION
command-head-place = PLACE
command-head-what = WHAT
command-head-it = IT
command-head-result = RESULT
command-head-cites = CITES
command-head-first-word = FIRST WORD
command-head-whole = WHOLE
command-head-said = SAID
command-no = no
command-trial-prose = answers from prose
command-trial-table = answers from a table
command-trial-german = answers in German
command-trial-none = says when there is no answer
command-trial-json = answers in JSON
