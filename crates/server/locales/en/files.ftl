files-receipt = Receipt
files-further = and { $count } more; the audit log names each.
files-deleted-hint = What was deleted can no longer be found, read or downloaded.
files-upload = Upload
files-drop = Drop files or folders here
files-drop-hint = or choose them · up to { $size } each · PDF, Word, Excel, PowerPoint, mail, web pages, text, pictures and more
files-choose-files = Choose files
files-choose-folder = Choose a folder
files-add-text = Add text
files-add-a-text = Add a text
files-add-or-address = Add a text or a web address
files-example = Opening hours
files-text = Text
files-plain = Plain text or Markdown
files-web-address = Web address
files-fetch = Fetch
files-retry-failed = Retry failed
files-cancel-all = Cancel all
files-clear = Clear
files-failed-uploads = Failed uploads
files-uploads = Uploads
files-none = No files yet
files-none-how = Drop some above. As soon as the first one is ready, you can <a href="/boxes/{ $box }/chat">ask questions about it</a>.
files-editors-add = Editors of this box can add files.
files-filter-files = Filter files
files-name-part = Part of the name
files-status = Status
files-any-status = Any status
files-status-ready = Ready
files-status-warnings = Ready, with warnings
files-in-progress = In progress
files-status-failed = Failed
files-label = Label
files-filter = Filter
files-show-all = Show all
files-retry-all = Reprocess all failed files
files-select-files = Select files to label, reprocess or delete them.
files-labels-to-add = Labels to add
files-labels-to-add-example = labels to add
files-add-labels = Add labels
files-reprocess = Reprocess
files-delete-confirm = Delete the selected files permanently?
files-delete = Delete
files-select-all = Select all on this page
files-state = State
files-select = Select { $name }
files-pages-read = Pages read
files-no-match = No files match.
files-first-page = First page
files-more-files = More files
files-status-queued = Waiting
files-status-processing = Processing
files-status-deleting = Deleting
files-not-processed = it could not be processed
files-column-name = Name
files-column-pages = Pages
files-column-size = Size
files-column-added = Added
files-original-kept = the original is kept for another file of this box, { $pages }, { $passages }, { $vectors }
files-original-gone = the original, { $pages }, { $passages }, { $vectors }
files-labelled = { $count ->
        [one] { $count } file labelled.
       *[other] { $count } files labelled.
    }
files-reprocessed = { $count ->
        [one] { $count } file is being processed again.
       *[other] { $count } files are being processed again.
    }
files-deleted = { $count ->
        [one] { $count } file deleted.
       *[other] { $count } files deleted.
    }
files-recognised = Recognised from a picture
files-recognised-sure = Recognised from a picture, { $percent }% sure
files-with-structure = Read with its structure
files-as-text = Read as plain text
files-report = Report
files-facts = { $kind } · { $size } · { $pages } pages · { $passages }
files-in-language = language { $language }
files-original = Original
files-download = Download
files-processing-report = Processing report
files-found = What was found
files-previous-hit = Previous hit
files-next-hit = Next hit
files-back-to-found = Back to what was found
files-no-text = No text could be read.
files-no-text-yet = No text yet.
files-about = About this file
files-searchable = Searchable since
files-folder = Folder
files-id = File id
files-change = Change
files-labels = Labels
files-metadata = Metadata
files-key-number = Key { $number }
files-value-of = Value of { $key }
files-new-key = New key
files-key = key
files-new-value = New value
files-value = value
files-metadata-hint = Searches can filter by these. An entry without a key is ignored.
files-delete-one-confirm = Delete { $name } permanently?
files-report-of = Processing report of <a href="/boxes/{ $box }/files/{ $file }">{ $name }</a>
files-read-of = { $read } of { $total } read
files-read-recognised = { $count } recognised from a picture
files-read-blank = { $count } without text
files-read-warned = { $count ->
        [one] { $count } with a warning
       *[other] { $count } with warnings
    }
files-how = How
files-characters = Characters
files-tables = Tables
files-warnings = Warnings
files-nothing-read = Nothing was read from this file.
files-more-pages = More pages
files-previous-page = Previous page
files-next-page = Next page
files-page-of = page { $page } of { $total }
files-go-to-page = Go to page
files-go = Go
files-picture-of-page = Picture of the page
files-enlarge = Enlarge
files-picture-alt = Page { $page } of { $name }
files-quote = The quote on the page
files-text-of-page = Text of the page
files-open = Open the file here
files-select-everything = { $count ->
        [one] Select { $count } file
       *[other] Select all { $count } files
    }
