measuring-title = Évaluation
measuring-lead = Des questions dont vous connaissez la réponse montrent si cette boîte répond bien, et si un changement a aidé. Plus de détails dans <a href="/docs/evaluation">Evaluation</a>.
measuring-asked = Ce qui a été demandé
measuring-runs = Évaluer
measuring-running = { $asked } questions posées sur { $total }
measuring-progress = Questions posées
measuring-running-hint = L’évaluation continue quand vous quittez cette page. Elle prend fin si vous vous déconnectez ou si le serveur s’arrête.
measuring-failed = La dernière évaluation n’est pas allée à son terme : { $cause }
measuring-cost = { $count ->
        [one] Une question est posée. Cela coûte de { $least } à { $most } unités ; il vous en reste { $left } ce mois-ci.
       *[other] { $count } questions sont posées. Cela coûte de { $least } à { $most } unités ; il vous en reste { $left } ce mois-ci.
    }
measuring-run = Évaluer maintenant
measuring-nothing = Dites ce qui est juste pour au moins une question ; cette boîte pourra alors être évaluée.
measuring-history = Historique
measuring-plot = Trouvé parmi les trois premiers et bien répondu, évaluation par évaluation
measuring-plot-says = { $count } évaluations, la plus ancienne d’abord. La dernière a trouvé { $found } et bien répondu à { $right }. Le tableau ci-dessous a tous les chiffres.
measuring-when = Quand
measuring-questions = Questions
measuring-found-1 = Trouvé en premier
measuring-found-3 = Parmi les 3 premiers
measuring-found-10 = Parmi les 10 premiers
measuring-ndcg = nDCG@10
measuring-right = Bien répondu
measuring-refused = Refusé à raison
measuring-latency = Temps médian
measuring-units = Unités
measuring-ms = { $count } ms
measuring-percent = { $value } %
measuring-detail = Question par question
measuring-all-right = Toutes les questions ont reçu une bonne réponse, et toutes les recherches ont trouvé un bon fichier.
measuring-went-well = { $count ->
        [one] Une question s’est bien passée
       *[other] { $count } questions se sont bien passées
    }
measuring-answer = Réponse
measuring-is-right = juste
measuring-is-wrong = fausse
measuring-wrong-answers = répond alors qu’aucun document ne le fait
measuring-wrong-lacks = ne dit pas « { $fact } »
measuring-wrong-uncited = ne cite aucun bon fichier
measuring-not-found = pas parmi les 10 premiers
measuring-rank = rang { $rank }
measuring-set = Jeu d’évaluation
measuring-set-empty = Pas encore de questions. Ajoutez-en ci-dessous, ou depuis <a href="/boxes/{ $box }/questions">ce qui a été demandé</a>.
measuring-size = { $count ->
        [one] Une question sur { $most } au plus
       *[other] { $count } questions sur { $most } au plus
    }
measuring-export = { $count ->
        [one] En télécharger une en JSONL
       *[other] En télécharger { $count } en JSONL
    }
measuring-expected = Ce qui est juste
measuring-incomplete = à compléter
measuring-unanswerable = les documents n’y répondent pas
measuring-edit = Modifier
measuring-facts = Ce que la réponse doit dire
measuring-facts-hint = Une chose par ligne ; les variantes sont séparées par une barre : 36 mois | trois ans
measuring-files = Bons fichiers
measuring-files-hint = Un par ligne, avec une page si vous voulez : terms.pdf#page=3
measuring-no-answer = Les documents ne répondent pas à cette question
measuring-add-title = Ajouter une question
measuring-add = Ajouter la question
measuring-import-title = Coller des questions
measuring-lines = Questions, une par ligne
measuring-import-hint = Chaque ligne est un objet JSON tel que <code>quire eval</code> le lit. Une question déjà présente reçoit ce que la ligne attend.
measuring-import = Ajouter les questions
measuring-added = { $count ->
        [0] Le jeu d’évaluation l’avait déjà.
        [one] Une question a été ajoutée au jeu d’évaluation.
       *[other] { $count } questions ont été ajoutées au jeu d’évaluation.
    }
measuring-to-set = Ajouter au jeu d’évaluation
measuring-in-set = dans le jeu d’évaluation
