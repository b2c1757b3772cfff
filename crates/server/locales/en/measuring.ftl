measuring-title = Evaluation
measuring-lead = Questions whose answers you know show how well this box answers, and whether a change helped. <a href="/docs/evaluation">Evaluation</a> says more.
measuring-asked = What was asked
measuring-runs = Evaluate
measuring-running = { $asked } of { $total } questions asked
measuring-progress = Questions asked
measuring-running-hint = The evaluation goes on when you leave this page. It ends if you sign out or the server stops.
measuring-failed = The last evaluation did not get to its end: { $cause }
measuring-cost = { $count ->
        [one] One question is asked. That costs { $least } to { $most } units; you have { $left } left this month.
       *[other] { $count } questions are asked. That costs { $least } to { $most } units; you have { $left } left this month.
    }
measuring-run = Evaluate now
measuring-nothing = Say what is right for at least one question; then this box can be evaluated.
measuring-history = History
measuring-plot = Found in the first three and answered rightly, evaluation by evaluation
measuring-plot-says = { $count } evaluations, oldest first. The latest found { $found } and answered { $right } rightly. The table below has all figures.
measuring-when = When
measuring-questions = Questions
measuring-found-1 = Found first
measuring-found-3 = Found in the first 3
measuring-found-10 = Found in the first 10
measuring-ndcg = nDCG@10
measuring-right = Answered rightly
measuring-refused = Rightly refused
measuring-latency = Median time
measuring-units = Units
measuring-ms = { $count } ms
measuring-percent = { $value }%
measuring-detail = Question by question
measuring-all-right = Every question was answered rightly, and every search found a right file.
measuring-went-well = { $count ->
        [one] One question went well
       *[other] { $count } questions went well
    }
measuring-answer = Answer
measuring-is-right = right
measuring-is-wrong = wrong
measuring-wrong-answers = answers although no document does
measuring-wrong-lacks = does not say “{ $fact }”
measuring-wrong-uncited = cites no right file
measuring-not-found = not in the first 10
measuring-rank = rank { $rank }
measuring-set = Evaluation set
measuring-set-empty = No questions yet. Add some below, or from <a href="/boxes/{ $box }/questions">what was asked</a>.
measuring-size = { $count ->
        [one] One question of at most { $most }
       *[other] { $count } questions of at most { $most }
    }
measuring-export = { $count ->
        [one] Download one as JSONL
       *[other] Download { $count } as JSONL
    }
measuring-expected = What is right
measuring-incomplete = to be completed
measuring-unanswerable = not answered by the documents
measuring-edit = Edit
measuring-facts = What the answer must say
measuring-facts-hint = One per line; alternatives are separated by a bar: 36 months | three years
measuring-files = Right files
measuring-files-hint = One per line, with a page if you like: terms.pdf#page=3
measuring-no-answer = The documents do not answer this question
measuring-add-title = Add a question
measuring-add = Add question
measuring-import-title = Paste questions
measuring-lines = Questions, one per line
measuring-import-hint = Each line is a JSON object as <code>quire eval</code> reads it. A question that is there already gets what the line expects.
measuring-import = Add questions
measuring-added = { $count ->
        [0] The evaluation set had that already.
        [one] One question has been put into the evaluation set.
       *[other] { $count } questions have been put into the evaluation set.
    }
measuring-to-set = Add to evaluation set
measuring-in-set = in the evaluation set
