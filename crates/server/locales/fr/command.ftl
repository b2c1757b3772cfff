command-next-steps =
    quire range des documents dans des boîtes et les sert par HTTPS : recherche, texte intégral, questions et réponses.

      quire quickstart                       essayer : crée un compte, une boîte et une clé, puis démarre le serveur
      quire serve --data DIR                 démarrer un serveur ; avant : `quire user add`, `box add` et `key add`
      quire doctor --data DIR                vérifier une installation
      quire add BOX PATH…                    envoyer des fichiers    (avec une clé dans QUIRE_API_KEY)
      quire sync BOX DIR                     garder un dossier et une boîte identiques
      quire search BOX QUERY                 chercher dans une boîte
      quire ask BOX QUESTION                 interroger une boîte

    `quire --help` liste toutes les commandes, `quire COMMANDE --help` en explique une.
command-ready =
    quire { $version } est prêt.

      Adresse    { $url }
      Compte     { $account }
      Boîte      { $box } ({ $id })
      Clé d'API  { $key }
                 affichée une seule fois ; valable jusqu'au { $expires } ou jusqu'à ce que le prochain quickstart la remplace

    { $dashboard }

    Essayez l'API :

      { $check }

    La boîte contient la documentation de quire. Cherchez-y :

      { $search }

    Posez-lui une question et ajoutez vos propres documents :

      { $export }
      { $ask }
      { $add }

    Tout est conservé dans { $data }. Ctrl-C arrête le serveur.
command-set-up-link = Configurez le tableau de bord avec ce lien (il ne fonctionne qu'une fois) : { $link }
command-dashboard-at = Le tableau de bord est à l'adresse { $url }
command-created-folder = { $folder } a été créé
command-error = erreur :
command-because = cause : { $cause }
command-type-yes = Tapez { $yes } pour confirmer :
command-yes = oui

command-preparing = Préparation du dossier de données
command-loading = Chargement des modèles et ouverture des boîtes
command-processing-sample = Traitement des documents d'exemple
command-asking = Interrogation
command-asking-server = Interrogation du serveur
command-searching = Recherche
command-checking = Vérification
command-checking-model = Vérification de { $name }
command-fetching = Téléchargement de { $name }
command-copying = Copie
command-copying-originals = Originaux
command-copying-boxes = Boîtes
command-restoring = Restauration
command-copying-records = Copie des enregistrements
command-switching = Comparaison des deux copies et passage à la nouvelle
command-deleting = Suppression
command-deleting-file = Suppression du fichier { $number } sur { $count }
command-exporting = Exportation
command-importing = Importation
command-reading-back = Relecture
command-comparing-box = Comparaison avec le contenu de la boîte
command-comparing-folder = Comparaison du dossier avec la boîte
command-listing = Liste des fichiers
command-uploading = Envoi
command-processing = Traitement
command-rebuilding = Reconstruction
command-files = fichiers
command-originals = originaux
command-questions = questions
command-busy = Le serveur est occupé ou sa limite est atteinte ; nouvel essai dans { $count } s
command-watching = Surveillance de { $folder } ; Ctrl-C y met fin

command-place = { $file }, page { $page }
command-note = Remarque : { $text }
command-nothing-found = Rien n'a été trouvé.
command-units =
    { $count ->
        [one] { $count } unité
       *[other] { $count } unités
    }
command-units-left = { $units }, il en reste { $count } ce mois-ci

command-answerer-right = { $model } : { $right } bonnes réponses sur { $count }
command-answerer-cannot = il ne peut pas : ces requêtes reçoivent une erreur
command-box-added = La boîte { $box } ({ $id }) a été ajoutée
command-box-language = La langue de { $box } est maintenant { $language }
command-box-language-rebuilt = La langue de { $box } est maintenant { $language } ; le serveur reconstruit son index, et la boîte reste utilisable entre-temps
command-no-boxes = Aucune boîte pour l'instant ; ajoutez-en une avec `quire box add NAME --owner EMAIL`.
command-no-usable-box = Cette clé ne peut utiliser aucune boîte : son utilisateur doit être propriétaire ou administrateur de l'une d'elles.
command-granted = { $email } est maintenant { $role } de { $box }
command-revoked-role = { $email } n'a plus de rôle dans { $box }
command-moved-box = { $box } est passée de la grappe { $from } à la grappe { $to } : { $files }
command-delete-box = Supprimer définitivement la boîte { $box } et ses { $count } fichiers ?
command-deleted-box = La boîte { $box } a été supprimée
command-exported = { $box } a été exportée dans { $file } : { $files } fichiers, { $passages } passages
command-exported-unread = { $said } ; { $count } d'entre eux ne sont pas encore traités et le seront après l'importation
command-imported = La boîte { $box } ({ $id }) a été importée pour { $owner } : { $files } fichiers, { $passages } passages
command-imported-other-model = L'export a été indexé avec le modèle { $before }, et ce serveur utilise { $model } : ses { $count } fichiers sont traités à nouveau, comme s'ils venaient d'être envoyés, et peuvent être trouvés ensuite.
command-imported-unread = { $count } fichiers n'avaient pas encore été traités ; ils sont dans la file d'attente.
command-backed-up = { $from } a été sauvegardé dans { $to } : { $files } fichiers, dont { $copied } copiés ({ $megabytes } Mo), les autres inchangés depuis la sauvegarde précédente
command-backup-changed = { $count } fichiers ont changé entre-temps ; ils sont traités à nouveau après une restauration.
command-backup-damaged = { $count } originaux sont endommagés dans le stockage, donc aussi dans la sauvegarde : voir `quire doctor --scrub`
command-backup-sound = { $backup } du { $when } est en bon état : { $files } fichiers
command-restored =
    { $backup } du { $when } a été restauré dans { $folder } : { $files } fichiers, tous comparés à leurs sommes de contrôle.
    Démarrez avec `quire serve --data { $folder }`.
command-migrated = { $records } enregistrements, { $originals } originaux et le texte de { $files } fichiers ont été déplacés ; tout a été comparé sans différence.
command-added-files = { $added } ajoutés, { $known } déjà présents, { $failed } en erreur
command-no-files = Aucun fichier pour l'instant ; ajoutez-en avec `quire add BOX PATH…`.
command-processing-page = en traitement { $page }/{ $pages }
command-deleted-file = { $name } a été supprimé : { $originals } original, { $pages } pages, { $chunks } passages, { $vectors } vecteurs
command-new-key =
    { $key }

    Conservez-la bien : elle n'est affichée qu'une fois, et seul son hachage est enregistré.
command-no-keys = Aucune clé pour l'instant ; créez-en une avec `quire key add --user EMAIL`.
command-revoked-key = { $prefix } a été révoquée, avec effet dès la prochaine requête
command-exposed = exposée
command-all = toutes
command-anywhere = partout
command-none = aucun
command-pulled = { $model } a été téléchargé et vérifié : { $folder }
command-pulled-before = { $model } est déjà là, intact : { $folder }
command-user-has = { $email } a maintenant { $limits }
command-plan-gives = L'offre { $plan } donne { $limits }
command-usual-units = les unités mensuelles par défaut
command-units-a-month = { $count } unités par mois
command-gone-back = Retour à l'index de { $model } ; { $count } fichiers sont traités à nouveau.
command-reindexed = { $files } fichiers ({ $passages } passages) ont été indexés avec { $model } (avant : { $before }) ; { $overlap }. `quire reindex BOX --back` revient en arrière.
command-overlap = { $share } % de ce que les { $count } dernières recherches ont trouvé l'est aussi par le nouvel index
command-no-queries = il n'y avait pas de recherches récentes à comparer
command-user-added = { $email } ({ $id }) a été ajouté
command-no-users = Aucun compte pour l'instant ; ajoutez-en un avec `quire user add EMAIL`.
command-default = par défaut
command-user-disabled = désactivé
command-user-unconfirmed = adresse non confirmée
command-user-active = actif
command-disabled = { $email } a été désactivé, avec effet dès la prochaine requête
command-enabled = { $email } a été activé, avec effet dès la prochaine requête
command-unlocked = { $email } a été débloqué : la prochaine connexion n'a pas à attendre
command-confirmed = { $email } est confirmé : les invitations en attente pour cette adresse ont pris effet
command-logged-questions = { $count } questions sont dans { $file } ; vérifiez et corrigez ce que chacune doit trouver avant de les utiliser
command-sync-gone = { $count } fichiers de { $source } n'y existent plus. Les supprimer de la boîte ?
command-sync-held-back = { $count } fichiers ne sont plus dans le dossier ; ils restent dans la boîte jusqu'à ce que `quire sync` soit relancé avec --yes
command-synced = { $added } ajoutés, { $changed } modifiés, { $renamed } renommés, { $removed } supprimés, { $failed } en erreur, { $unchanged } inchangés
command-skipped = { $count } ignorés
command-more-skipped = … ; --json les liste tous

command-head-name = NOM
command-head-id = ID
command-head-language = LANGUE
command-head-created = CRÉÉ
command-head-members = MEMBRES
command-head-role = RÔLE
command-head-status = ÉTAT
command-head-pages = PAGES
command-head-size = TAILLE
command-head-note = REMARQUE
command-head-prefix = PRÉFIXE
command-head-account = COMPTE
command-head-state = ÉTAT
command-head-last-used = DERNIER USAGE
command-head-expires = EXPIRE
command-head-boxes = BOÎTES
command-head-may = PEUT
command-head-from = DEPUIS
command-head-email = ADRESSE
command-head-plan = OFFRE
command-head-units = UNITÉS/MOIS
command-head-bounds = LIMITES
command-head-used-as = SERT DE
command-head-in-use-as = UTILISÉ COMME
command-head-model = MODÈLE
command-head-version = VERSION
command-head-place = LIEU
command-head-what = QUOI
command-head-it = ESSAI
command-head-result = RÉSULTAT
command-head-cites = CITE
command-head-first-word = PREMIER MOT
command-head-whole = TOTAL
command-head-said = A DIT
command-no = non
command-trial-prose = répond à partir d’un texte
command-trial-table = répond à partir d’un tableau
command-trial-german = répond en allemand
command-trial-none = dit quand il n’y a pas de réponse
command-trial-json = répond en JSON
