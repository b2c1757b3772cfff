account-keys-lead = Pour vos programmes. Une clé peut faire ce que vous pouvez faire dans les boîtes dont vous êtes administrateur ou propriétaire.
account-new-key = Nouvelle clé
account-your-new-key = Votre nouvelle clé
account-copy-now = Copiez-la maintenant. Elle n’est plus affichée ensuite, et personne ne peut la retrouver.
account-copy-key = Copier la clé
account-what-for = À quoi elle sert
account-expires = Expire
account-in-30-days = dans 30 jours
account-in-90-days = dans 90 jours
account-in-a-year = dans un an
account-never = jamais
account-works-in = Fonctionne dans
account-all-boxes = toutes vos boîtes, y compris les futures
account-only-these = seulement celles-ci :
account-not-as = (en tant que { $role }, vous ne pouvez pas utiliser l’API)
account-may = Peut
account-visible-hint = Une clé visible dans une page web ne devrait pouvoir que rechercher.
account-sites = Sites web dont les pages peuvent l’utiliser
account-sites-hint = Seulement pour une clé placée dans des pages web, comme celle du <a href="/account/integrations">chat pour votre site</a> : un site par ligne. Laissez vide pour des programmes.
account-on-pages-of = sur les pages de { $sites }
account-create-key = Créer la clé
account-no-keys = Aucune clé pour l’instant.
account-keys = Clés
account-key = Clé
account-last-used = Dernière utilisation
account-state = État
account-since-small = depuis le
account-revoke-confirm = Révoquer la clé { $name } ? Les programmes qui l’utilisent cesseront de fonctionner.
account-revoke = Révoquer
account-programs = Programmes ayant accès
account-program = Programme
account-expires-unless = Expire si inutilisée avant le
account-end-confirm = Mettre fin à l’accès de { $name } ? Il ne pourra pas continuer avant que vous l’autorisiez à nouveau.
account-use-it = Utilisez-la
account-certificate = Ce serveur utilise un certificat autosigné : <a href="/account/certificate" download>téléchargez quire-cert.pem</a> pour que les programmes lui fassent confiance.
account-keep-secret = Ne mettez pas de clés dans des URL ni dans du code public, ni dans des pages web à moins que la clé nomme le site. Une clé envoyée sans HTTPS ou dans une URL est signalée ici.
account-all-your-boxes = Toutes vos boîtes
account-no-boxes-left = Plus aucune boîte
account-exposed-url = Envoyée dans une URL le { $when }. D’autres ont pu la voir : révoquez-la et créez-en une nouvelle.
account-exposed-http = Envoyée en HTTP non chiffré le { $when }. D’autres ont pu la voir : révoquez-la et créez-en une nouvelle.
account-state-active = active
account-state-expired = expirée
account-state-revoked = révoquée
account-may-search = rechercher et poser des questions
account-may-read = lister les boîtes et les fichiers, lire et télécharger les documents
account-may-write = ajouter, modifier et supprimer des fichiers
account-may-manage = gérer les boîtes, les membres et les clés
account-you = Vous
account-plan = Forfait
account-since = Depuis
account-change-password = Changer le mot de passe
account-set-a-password = Définir un mot de passe
account-set-password = Définir le mot de passe
account-current-password = Mot de passe actuel
account-new-password = Nouveau mot de passe
account-password-hint = Au moins { $count } caractères. Cela ferme toutes vos autres connexions.
account-second-step = Seconde étape
account-second-on = Votre compte demande un code de votre application d’authentification après votre mot de passe.
account-second-lead = Un code d’une application d’authentification après votre mot de passe, pour que le mot de passe seul ne laisse entrer personne.
account-change = Changer
account-second-set-up = Configurer une seconde étape
account-passkeys = Clés d’accès
account-passkeys-lead = Connectez-vous avec l’empreinte, le visage ou le code PIN de votre appareil, ou avec une clé de sécurité, au lieu du mot de passe.
account-passkeys-count = { $count ->
        [one] Votre compte a { $count } clé d’accès pour se connecter au lieu du mot de passe.
       *[other] Votre compte a { $count } clés d’accès pour se connecter au lieu du mot de passe.
    }
account-passkeys-manage = Gérer les clés d’accès
account-your-passkeys = Vos clés d’accès
account-no-passkeys = Aucune clé d’accès pour l’instant.
account-passkey = Clé d’accès
account-passkey-added = pour { $host }, ajoutée le <time datetime="{ $since-iso }">{ $since }</time>
account-passkey-used = dernière utilisation le <time datetime="{ $used-iso }">{ $used }</time>
account-passkey-add = Ajouter une clé d’accès
account-passkey-name-hint = Pour que vous la reconnaissiez, par exemple « Ordinateur du bureau ».
account-passkey-remove = Retirer une clé d’accès
account-passkeys-address = Les clés d’accès ne fonctionnent qu’à une adresse qui a un nom : ouvrez ce serveur par son nom, pas par son adresse IP.
account-passkeys-most = Vous avez { $count } clés d’accès, le maximum d’un compte. Retirez-en une pour en ajouter une autre.
account-passkeys-missing = Pour en ajouter une, il faut JavaScript et un navigateur qui prend en charge les clés d’accès.
account-sign-in-with = Se connecter avec { $provider }
account-connected = Votre compte est lié : vous pouvez vous connecter avec { $provider }.
account-your-password = Votre mot de passe
account-connect = Lier { $provider }
account-look = Apparence
account-colours = Couleurs dans ce navigateur
account-as-system = comme le système
account-light = clair
account-dark = sombre
account-language = Langue
account-language-of-pages = Langue de ces pages
account-language-of-browser = comme le navigateur
account-set-language = Définir la langue
account-language-hint = Les documents, les réponses et la documentation restent dans leurs propres langues.
account-signed-in = Où vous êtes connecté
account-here = ici
account-session = de { $address }, depuis le <time datetime="{ $since-iso }">{ $since }</time>, dernière activité le <time datetime="{ $seen-iso }">{ $seen }</time>
account-end = Fermer
account-end-which = la connexion avec { $browser } depuis { $address }
account-sign-out-everywhere = Se déconnecter partout
account-recovery-codes = Codes de secours
account-your-recovery-codes = Vos codes de secours
account-recovery-hint = Chacun vous laisse entrer une fois si vous perdez votre application. Ils ne sont plus affichés ensuite : conservez-les en lieu sûr.
account-on = Activée
account-codes-left = Votre compte demande un code quand vous vous connectez avec votre mot de passe. { $count ->
        [one] Il reste { $count } code de secours
       *[other] Il reste { $count } codes de secours
    } ; pour en obtenir d’autres, désactivez puis réactivez.
account-code = Code
account-turn-off = Désactiver
account-set-up-app = Configurez votre application
account-scan = Scannez ceci avec une application d’authentification, saisissez-y la clé ci-dessous ou <a href="{ $link }">ouvrez l’application avec elle</a> sur cet appareil.
account-type-key = Saisissez cette clé dans une application d’authentification ou <a href="{ $link }">ouvrez l’application avec elle</a> sur cet appareil.
account-qr = La clé sous forme de code QR
account-code-now = Le code qu’elle affiche maintenant
account-turn-on = Activer
account-off = Désactivée
account-set-up = Configurer
account-let-in = Laisser entrer { $name } ?
account-consent = Un programme qui se nomme <strong>{ $name }</strong> demande à utiliser vos boîtes en votre nom. N’importe qui peut choisir ce nom : ne continuez que si vous venez de le connecter vous-même.
account-it-may = Il peut
account-in = Dans
account-every-box = et chaque boîte dont vous devenez administrateur ou propriétaire
account-back-to = Vous êtes renvoyé vers
account-describes-itself = Il se décrit à l’adresse <code>{ $address }</code>
account-consent-hint = Il ne peut rien modifier ni supprimer. Ses requêtes utilisent vos unités. Vous pouvez révoquer cet accès à tout moment sous Compte, Clés d’API.
account-allow = Le laisser entrer
account-decline = Refuser
account-own-program = un programme sur votre propre machine
account-own-app = une application sur votre propre machine ({ $name })
account-months = Mois
account-units-this-month = Unités de ce mois
account-used-of = <strong>{ $used }</strong> sur { $total } utilisées
account-units-used = Unités utilisées
account-left = Il en reste { $left } ; remise à zéro le <time datetime="{ $iso }">{ $when }</time>.
account-per-day = Par jour
account-units-per-day = Unités par jour
account-chart = Unités par jour de { $month } ; le jour le plus élevé en compte { $top }
account-searches = recherches
account-answers = réponses
account-per-key = Par clé
account-per-operation = Par opération
account-nothing-yet = Rien pour l’instant.
account-calls = Appels
account-units = Unités
account-operation = Opération
account-held = Ce que vous stockez et utilisez
account-what = Quoi
account-used-of-allowed = Utilisé sur autorisé
account-raise-hint = Un opérateur de ce serveur peut relever ces limites.
account-rate = Limite de débit actuelle
account-requests-in-window = Requêtes dans cette fenêtre
account-resets = Remise à zéro
account-requests-of-account = Requêtes de votre compte
account-requests-of-key = Requêtes de la clé { $name }
account-key-named = Clé { $name }
account-of = { $used } sur { $total }
account-api-only = Seules les requêtes par l’API comptent.
account-boxes-owned = Boîtes qui vous appartiennent
account-files-in-them = Fichiers qu’elles contiennent
account-files-waiting = Fichiers en attente de traitement
account-bar = Jour { $day } : { $searches } pour les recherches, { $answers } pour les réponses
account-dashboard = Tableau de bord
account-operation-search = Recherches
account-operation-chat = Réponses
account-operation-embeddings = Plongements
account-operation-rerank = Reclassement
account-your-account = Votre compte
account-webhooks-lead = Prévenez vos programmes quand il se passe quelque chose dans vos boîtes. <a href="/docs/webhooks">Comment les destinataires les vérifient</a>.
account-new-secret = Nouveau secret
account-the-secret = Le secret du webhook
account-secret-hint = Le destinataire vérifie les signatures avec lui. Copiez-le maintenant : il n’est plus affiché ensuite.
account-copy-secret = Copier le secret
account-webhooks-off = Ce serveur n’envoie pas d’événements ; un opérateur peut les activer avec le réglage <code>webhooks.enabled</code>.
account-stopped = arrêté par son destinataire
account-events = Événements
account-queue = File d’attente
account-deliveries = Dernières livraisons
account-delivered = livré
account-failed = échec
account-send-again = Renvoyer
account-send-again-which = numéro { $number }
account-rotate-confirm = Créer un nouveau secret ? L’ancien reste aussi valable un jour.
account-webhook-delete-confirm = Supprimer ce webhook ? Les événements en attente ne seront pas envoyés.
account-delete = Supprimer
account-no-webhooks = Aucun webhook pour l’instant.
account-new-webhook = Nouveau webhook
account-address = Adresse
account-all-api-boxes = toutes les boîtes dont vous pouvez utiliser l’API
account-create-webhook = Créer le webhook
account-attempt-delivered = livré ({ $status }) en { $took } ms
account-attempt-refused = le destinataire a répondu { $status }
account-attempt-silent = pas de réponse
account-event-ready = un fichier est prêt
account-event-warnings = un fichier est prêt, avec avertissements
account-event-failed = un fichier n’a pas pu être lu
account-event-replaced = un fichier a une nouvelle version
account-event-deleted = un fichier a été supprimé
account-event-exposed = une clé a été envoyée là où d’autres peuvent la voir
account-event-synced = une source d’une boîte a été synchronisée
account-event-language = une boîte est passée au modèle de ses langues
account-event-unanswered = une question n’a rien trouvé dans une boîte
account-webhook-all = toutes vos boîtes
account-events-waiting = { $count ->
        [one] { $count } événement en attente
       *[other] { $count } événements en attente
    }
account-integrations-lead = Comment d’autres programmes utilisent ce serveur. Là où il est écrit <code>quire_…</code>, mettez une de vos clés : <a href="/account/keys">Clés d’API</a>. Plus de détails dans <a href="/docs/integrations">Connect other programs</a>.
account-integrations-none = Les programmes utilisent des boîtes dont vous êtes administrateur ou propriétaire, et vous n’en avez pas encore : mettez l’identifiant d’une boîte là où il est écrit <code>BOX_ID</code>.
account-show = Afficher
account-integrations-certificate = Ce serveur utilise un certificat autosigné. Dites à chaque programme de lui faire confiance : <a href="/account/certificate" download>téléchargez quire-cert.pem</a>. Les assistants dans le nuage, comme Claude et ChatGPT sur le web, ont besoin d’un certificat reconnu publiquement et d’une adresse qu’ils peuvent atteindre.
account-copy-what = { $what } pour { $program }
account-playground-lead = Essayez l’API. Les requêtes sont réelles : elles changent ce qu’elles disent, et les recherches et réponses coûtent des unités. <a href="/docs/api">La référence de l’API</a> explique chacune d’elles.
account-request = Requête
account-api-key = Clé d’API
account-playground-key = L’une de <a href="/account/keys">vos clés</a>. Elle n’est envoyée qu’à ce serveur et oubliée quand vous quittez la page.
account-body = Corps
account-playground-script = L’envoi nécessite JavaScript, qui est désactivé dans ce navigateur.
account-send = Envoyer
account-same-curl = La même chose avec curl
account-the-curl = la commande curl
account-answer = Réponse
account-steps-claude = Settings, Connectors, Add custom connector : saisissez l’adresse. Claude ouvre une page de ce tableau de bord où vous le laissez entrer ; il n’a pas besoin de clé. Dans Claude Code, utilisez la commande.
account-steps-chatgpt = Settings, Apps &amp; Connectors, avec le mode développeur activé : créez un connecteur avec cette adresse comme serveur MCP et OAuth comme authentification. Vous le laissez entrer sur une page de ce tableau de bord ; il n’a pas besoin de clé.
account-steps-cursor = Mettez ceci dans ~/.cursor/mcp.json. Sans les en-têtes, Cursor vous demande de le laisser entrer sur une page de ce tableau de bord. VS Code et d’autres qui ont un tel fichier acceptent la même chose.
account-steps-open-webui = Admin Settings, Connections, OpenAI API : l’adresse et une clé. Chaque boîte est alors un modèle dont les réponses ont des citations. Sous Documents, la même adresse sert de moteur de plongements (OpenAI) et d’extraction de contenu (External), et la seconde de reclasseur externe.
account-steps-dify = Knowledge, External Knowledge API : ajoutez ce point d’accès avec une clé. Connectez ensuite une base de connaissances externe avec l’identifiant de la boîte.
account-steps-n8n = Ajoutez le nœud MCP Client Tool avec ce point d’accès, HTTP Streamable comme transport et une authentification bearer avec une clé. Le nœud HTTP Request fonctionne avec l’API.
account-steps-widget = Un chat pour votre site. Créez une clé pour cette boîte qui ne peut que rechercher et qui nomme votre site, par exemple https://www.example.org. Placez ensuite cette balise avec la clé dans vos pages : elles reçoivent un bouton qui ouvre un chat sur la boîte. Quiconque voit ces pages peut poser des questions sur tout le contenu de la boîte, et cela consomme vos unités.
account-steps-curl = Cherche dans la boîte.
account-steps-python = Le client se trouve dans sdk/python du dépôt (quire-sdk).
account-steps-typescript = Le client se trouve dans sdk/typescript du dépôt (quire-sdk).
account-kind-assistants = Assistants
account-kind-platforms = Plateformes
account-kind-pages = Vos propres pages
account-kind-own = Vos propres programmes
account-copied-claude-code = Claude Code
account-copied-json = mcp.json
account-copied-reranker = Reclasseur
account-copied-endpoint = Point d’accès
account-copied-knowledge = Identifiant de la base de connaissances
account-copied-api = API
account-copied-tag = Balise
account-copied-command = Commande
account-copied-environment = Environnement
account-notices = Notifications
account-notices-lead = Ce qui demande votre attention. Chaque avis disparaît avec sa cause.
account-notices-none = Rien ne demande votre attention
account-notices-none-why = Les fichiers illisibles, les unités qui s’épuisent et les clés sur le point d’expirer s’affichent ici.
account-notice-now = maintenant
account-notice-soon = bientôt
account-notice-failed = { $count ->
        [one] { $count } fichier de { $box } n’a pas pu être lu.
       *[other] { $count } fichiers de { $box } n’ont pas pu être lus.
    }
account-notice-few-units = { $left ->
        [one] Il reste { $left } unité jusqu’au <time datetime="{ $iso }">{ $when }</time>.
       *[other] Il reste { $left } unités jusqu’au <time datetime="{ $iso }">{ $when }</time>.
    }
account-notice-no-units = Il ne reste plus d’unités. Les recherches et les réponses fonctionneront de nouveau à partir du <time datetime="{ $iso }">{ $when }</time>.
account-notice-key-expires = La clé { $name } cessera de fonctionner le <time datetime="{ $iso }">{ $when }</time>.
account-notice-key-expired = La clé { $name } a cessé de fonctionner le <time datetime="{ $iso }">{ $when }</time>.
account-notice-key-exposed = La clé { $name } a été envoyée là où d’autres pouvaient la lire, le <time datetime="{ $iso }">{ $when }</time>. Remplacez-la.
account-notice-show-files = Voir les fichiers
account-notice-show-usage = Voir l’utilisation
account-notice-show-keys = Voir les clés
