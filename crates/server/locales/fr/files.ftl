files-receipt = Reçu
files-further = et { $count } de plus ; le journal d’audit nomme chacun.
files-deleted-hint = Ce qui a été supprimé ne peut plus être trouvé, lu ni téléchargé.
files-upload = Ajout de fichiers
files-drop = Déposez ici des fichiers ou des dossiers
files-drop-hint = ou choisissez-les · jusqu’à { $size } chacun · PDF, Word, Excel, PowerPoint, e-mails, pages web, texte, images et plus
files-choose-files = Choisir des fichiers
files-choose-folder = Choisir un dossier
files-add-text = Ajouter le texte
files-add-a-text = Ajouter un texte
files-add-or-address = Ajouter un texte ou une adresse web
files-example = Horaires d’ouverture
files-text = Texte
files-plain = Texte brut ou Markdown
files-web-address = Adresse web
files-fetch = Récupérer
files-retry-failed = Réessayer les échecs
files-cancel-all = Tout annuler
files-clear = Effacer
files-failed-uploads = Ajouts échoués
files-uploads = Ajouts
files-none = Aucun fichier pour l’instant
files-none-how = Déposez-en ci-dessus. Dès que le premier est prêt, vous pouvez <a href="/boxes/{ $box }/chat">poser des questions à son sujet</a>.
files-editors-add = Les éditeurs de cette boîte peuvent ajouter des fichiers.
files-filter-files = Filtrer les fichiers
files-name-part = Partie du nom
files-status = État
files-any-status = Tous les états
files-status-ready = Prêt
files-status-warnings = Prêt, avec avertissements
files-in-progress = En cours
files-status-failed = Échec
files-label = Étiquette
files-filter = Filtrer
files-show-all = Tout afficher
files-retry-all = Retraiter tous les fichiers en échec
files-select-files = Sélectionnez des fichiers pour les étiqueter, les retraiter ou les supprimer.
files-labels-to-add = Étiquettes à ajouter
files-labels-to-add-example = étiquettes à ajouter
files-add-labels = Ajouter les étiquettes
files-reprocess = Retraiter
files-delete-confirm = Supprimer définitivement les fichiers sélectionnés ?
files-delete = Supprimer
files-select-all = Tout sélectionner sur cette page
files-state = État
files-select = Sélectionner { $name }
files-pages-read = Pages lues
files-no-match = Aucun fichier ne correspond.
files-first-page = Première page
files-more-files = Plus de fichiers
files-status-queued = En attente
files-status-processing = En cours
files-status-deleting = Suppression
files-not-processed = il n’a pas pu être traité
files-column-name = Nom
files-column-pages = Pages
files-column-size = Taille
files-column-added = Ajouté
files-original-kept = l’original est conservé pour un autre fichier de cette boîte, { $pages }, { $passages }, { $vectors }
files-original-gone = l’original, { $pages }, { $passages }, { $vectors }
files-labelled = { $count ->
        [one] { $count } fichier étiqueté.
       *[other] { $count } fichiers étiquetés.
    }
files-reprocessed = { $count ->
        [one] { $count } fichier est en cours de retraitement.
       *[other] { $count } fichiers sont en cours de retraitement.
    }
files-deleted = { $count ->
        [one] { $count } fichier supprimé.
       *[other] { $count } fichiers supprimés.
    }
files-recognised = Reconnu dans une image
files-recognised-sure = Reconnu dans une image, sûr à { $percent } %
files-with-structure = Lu avec sa structure
files-as-text = Lu comme texte brut
files-report = Rapport
files-facts = { $kind } · { $size } · { $pages } pages · { $passages }
files-in-language = langue { $language }
files-original = Original
files-download = Télécharger
files-processing-report = Rapport de traitement
files-found = Ce qui a été trouvé
files-previous-hit = Résultat précédent
files-next-hit = Résultat suivant
files-back-to-found = Retour aux résultats
files-no-text = Aucun texte n’a pu être lu.
files-no-text-yet = Pas encore de texte.
files-about = À propos de ce fichier
files-searchable = Consultable depuis
files-folder = Dossier
files-id = Identifiant du fichier
files-change = Modifier
files-labels = Étiquettes
files-metadata = Métadonnées
files-key-number = Clé { $number }
files-value-of = Valeur de { $key }
files-new-key = Nouvelle clé
files-key = clé
files-new-value = Nouvelle valeur
files-value = valeur
files-metadata-hint = Les recherches peuvent filtrer selon celles-ci. Une entrée sans clé est ignorée.
files-delete-one-confirm = Supprimer définitivement { $name } ?
files-report-of = Rapport de traitement de <a href="/boxes/{ $box }/files/{ $file }">{ $name }</a>
files-read-of = Lecture : { $read } sur { $total }
files-read-recognised = { $count ->
        [one] { $count } reconnue dans une image
       *[other] { $count } reconnues dans des images
    }
files-read-blank = { $count } sans texte
files-read-warned = { $count ->
        [one] { $count } avec un avertissement
       *[other] { $count } avec des avertissements
    }
files-how = Comment
files-characters = Caractères
files-tables = Tableaux
files-warnings = Avertissements
files-nothing-read = Rien n’a été lu dans ce fichier.
files-more-pages = Plus de pages
files-previous-page = Page précédente
files-next-page = Page suivante
files-page-of = page { $page } sur { $total }
files-go-to-page = Aller à la page
files-go = Aller
files-picture-of-page = Image de la page
files-enlarge = Agrandir
files-picture-alt = Page { $page } de { $name }
files-quote = La citation sur la page
files-text-of-page = Texte de la page
files-open = Ouvrir le fichier ici
files-select-everything = { $count ->
        [one] Sélectionner { $count } fichier
       *[other] Sélectionner les { $count } fichiers
    }
