frame-skip = Aller au contenu
frame-description = quire : cherchez dans vos documents, lisez-les page par page et posez-leur des questions.
frame-menu = Menu
frame-main = Navigation principale
frame-boxes = Boîtes
frame-search = Rechercher
frame-account = Compte
frame-keys = Clés d’API
frame-integrations = Intégrations
frame-playground = Bac à sable
frame-webhooks = Webhooks
frame-usage = Utilisation
frame-profile = Profil
frame-help = Aide
frame-documentation = Documentation
frame-server = Serveur
frame-users = Utilisateurs
frame-plans = Forfaits
frame-system = Système
frame-audit = Journal d’audit
frame-sign-out = Se déconnecter
frame-box = Boîte
frame-files = Fichiers
frame-chat = Discussion
frame-members = Membres
frame-questions = Questions
frame-settings = Réglages
frame-page = Page
frame-previous = Précédent
frame-next = Suivant
frame-close = Fermer
frame-start = Aller à la page d’accueil
frame-request = Requête { $id }
frame-role-viewer = lecteur
frame-role-editor = éditeur
frame-role-admin = administrateur
frame-role-owner = propriétaire
frame-may-viewer = lire, rechercher et discuter
frame-may-editor = aussi ajouter et supprimer des fichiers
frame-may-admin = aussi gérer les membres et les réglages, et utiliser l’API
frame-may-owner = aussi supprimer la boîte ou la céder
frame-count-files = { $count ->
        [one] { $count } fichier
       *[other] { $count } fichiers
    }
frame-count-boxes = { $count ->
        [one] dans { $count } boîte
       *[other] dans { $count } boîtes
    }
frame-count-pages = { $count ->
        [one] { $count } page
       *[other] { $count } pages
    }
frame-count-members = { $count ->
        [one] { $count } membre
       *[other] { $count } membres
    }
frame-count-passages = { $count ->
        [one] { $count } passage
       *[other] { $count } passages
    }
frame-count-vectors = { $count ->
        [one] { $count } vecteur
       *[other] { $count } vecteurs
    }
frame-count-units = { $count ->
        [one] { $count } unité
       *[other] { $count } unités
    }
frame-count-calls = { $count ->
        [one] { $count } appel
       *[other] { $count } appels
    }
frame-size-b = { $size } o
frame-size-kb = { $size } Ko
frame-size-mb = { $size } Mo
frame-size-gb = { $size } Go
frame-size-tb = { $size } To
frame-kind-mail = E-mail
frame-kind-picture = Image
frame-kind-text = Texte
frame-kind-file = Fichier
frame-browser-on = { $browser } sur { $system }
frame-browser-unknown = Un navigateur inconnu
frame-refused = Vous n’êtes pas autorisé à faire cela
frame-too-many = Trop de tentatives
frame-sign-in-first = Connectez-vous d’abord
frame-no-units = Il ne reste pas assez d’unités
frame-not-now = Cela n’est pas possible maintenant
frame-no-page = Cette adresse n’a pas de page
frame-no-model = Le modèle de langage est injoignable
frame-wrong-request = La requête comporte une erreur
frame-done-renamed = La boîte a été renommée.
frame-done-language = La langue a été changée. Si cela change le modèle, l’index est reconstruit ; la boîte reste utilisable entre-temps.
frame-done-box-deleted = La boîte et tout son contenu ont été supprimés.
frame-done-handed-over = La boîte a été cédée.
frame-done-member-added = Le membre a été ajouté.
frame-done-member-changed = Le rôle a été changé, à compter de la prochaine requête.
frame-done-member-removed = Le membre a été retiré.
frame-done-shared = Tous les membres de cette boîte peuvent maintenant lire la conversation telle quelle.
frame-done-unshared = La conversation n’est plus visible que par vous.
frame-done-conversation-deleted = La conversation a été supprimée.
frame-done-expected = Ce qui est juste pour la question a été enregistré.
frame-done-question-removed = La question a été retirée du jeu d’évaluation.
frame-done-left = Vous avez quitté la boîte.
frame-done-withdrawn = L’invitation a été retirée.
frame-done-file-changed = Le fichier a été modifié.
frame-done-added = Le fichier a été ajouté et est en cours de traitement.
frame-done-read-again = Le fichier est en cours de retraitement.
frame-done-key-revoked = La clé a été révoquée, à compter de la prochaine requête.
frame-done-program-revoked = Le programme n’a plus accès, à compter de la prochaine requête.
frame-done-webhook-deleted = Le webhook a été supprimé.
frame-done-replayed = L’événement est envoyé à nouveau.
frame-done-profile = Votre profil a été enregistré.
frame-done-password = Votre mot de passe a été changé et toutes vos autres connexions sont fermées.
frame-done-second-step-removed = La seconde étape a été désactivée.
frame-done-passkey-added = La clé d’accès a été ajoutée ; vous pouvez maintenant vous connecter avec elle.
frame-done-passkey-removed = La clé d’accès a été retirée.
frame-done-session-ended = Cette connexion est fermée.
frame-done-connected = Votre compte est lié ; vous pouvez désormais vous connecter ainsi.
frame-done-confirmed = L’adresse est confirmée ; les invitations en attente ont pris effet.
frame-done-offered = La prochaine personne qui se connecte avec cette adresse chez le fournisseur reçoit le compte.
frame-done-kept = La cession est annulée ; le compte reste tel quel.
frame-done-unlocked = Le compte est débloqué ; la prochaine connexion n’a pas à attendre.
frame-done-user-changed = Le compte a été modifié.
frame-done-plan = Le forfait a été enregistré.
frame-done-signed-out = Vous êtes déconnecté.
frame-done-signed-out-everywhere = Vous êtes déconnecté partout.
frame-name = Nom
frame-email = Adresse e-mail
frame-password = Mot de passe
frame-copy = Copier
frame-save = Enregistrer
frame-role = Rôle
frame-actions = Actions
frame-you = (vous)
frame-pages = Pages
frame-remove = Retirer
frame-undo = Annuler
frame-done-undone = La modification a été annulée.
frame-done-model = Enregistré. La prochaine question sera traitée ainsi.
