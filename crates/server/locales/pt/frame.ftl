frame-skip = Ir para o conteúdo
frame-description = quire: pesquise nos seus documentos, leia página por página e faça perguntas a eles.
frame-menu = Menu
frame-main = Principal
frame-boxes = Caixas
frame-search = Pesquisar
frame-account = Conta
frame-keys = Chaves de API
frame-integrations = Integrações
frame-playground = Área de testes
frame-webhooks = Webhooks
frame-usage = Uso
frame-profile = Perfil
frame-help = Ajuda
frame-documentation = Documentação
frame-server = Servidor
frame-users = Usuários
frame-plans = Planos
frame-system = Sistema
frame-audit = Registro de auditoria
frame-sign-out = Sair
frame-box = Caixa
frame-files = Arquivos
frame-chat = Chat
frame-members = Membros
frame-questions = Perguntas
frame-settings = Configurações
frame-page = Página
frame-previous = Anterior
frame-next = Próximo
frame-close = Fechar
frame-start = Ir para a página inicial
frame-request = Solicitação { $id }
frame-role-viewer = leitor
frame-role-editor = editor
frame-role-admin = administrador
frame-role-owner = proprietário
frame-may-viewer = ler, pesquisar e conversar
frame-may-editor = também enviar e excluir arquivos
frame-may-admin = também gerenciar membros e configurações, e usar a API
frame-may-owner = também excluir a caixa ou transferi-la
frame-count-files = { $count ->
        [one] { $count } arquivo
       *[other] { $count } arquivos
    }
frame-count-boxes = { $count ->
        [one] em { $count } caixa
       *[other] em { $count } caixas
    }
frame-count-pages = { $count ->
        [one] { $count } página
       *[other] { $count } páginas
    }
frame-count-members = { $count ->
        [one] { $count } membro
       *[other] { $count } membros
    }
frame-count-passages = { $count ->
        [one] { $count } trecho
       *[other] { $count } trechos
    }
frame-count-vectors = { $count ->
        [one] { $count } vetor
       *[other] { $count } vetores
    }
frame-count-units = { $count ->
        [one] { $count } unidade
       *[other] { $count } unidades
    }
frame-count-calls = { $count ->
        [one] { $count } chamada
       *[other] { $count } chamadas
    }
frame-size-b = { $size } B
frame-size-kb = { $size } KB
frame-size-mb = { $size } MB
frame-size-gb = { $size } GB
frame-size-tb = { $size } TB
frame-kind-mail = E-mail
frame-kind-picture = Imagem
frame-kind-text = Texto
frame-kind-file = Arquivo
frame-browser-on = { $browser } no { $system }
frame-browser-unknown = Um navegador desconhecido
frame-refused = Você não tem permissão para fazer isto
frame-too-many = Tentativas demais
frame-sign-in-first = Entre primeiro
frame-no-units = Não restam unidades suficientes
frame-not-now = Isto não pode ser feito agora
frame-no-page = Este endereço não tem página
frame-no-model = Não é possível acessar o modelo de linguagem
frame-wrong-request = Há algo errado na solicitação
frame-done-renamed = A caixa foi renomeada.
frame-done-language = O idioma foi alterado. Se isso mudar o modelo, o índice será refeito; a caixa pode ser usada enquanto isso.
frame-done-box-deleted = A caixa e tudo o que estava nela foram excluídos.
frame-done-handed-over = A caixa foi transferida.
frame-done-member-added = O membro foi adicionado.
frame-done-member-changed = A função foi alterada e vale a partir da próxima solicitação.
frame-done-member-removed = O membro foi removido.
frame-done-shared = Todos nesta caixa agora podem ler a conversa como está.
frame-done-unshared = A conversa voltou a ser só sua.
frame-done-conversation-deleted = A conversa foi excluída.
frame-done-expected = O que é certo para a pergunta foi salvo.
frame-done-question-removed = A pergunta foi removida do conjunto de avaliação.
frame-done-left = Você saiu da caixa.
frame-done-withdrawn = O convite foi retirado.
frame-done-file-changed = O arquivo foi alterado.
frame-done-added = O arquivo foi adicionado e está sendo processado.
frame-done-read-again = O arquivo está sendo processado novamente.
frame-done-key-revoked = A chave foi revogada, a partir da próxima solicitação.
frame-done-program-revoked = O programa não tem mais acesso a partir da próxima solicitação.
frame-done-webhook-deleted = O webhook foi excluído.
frame-done-replayed = O evento está sendo enviado novamente.
frame-done-profile = Seu perfil foi salvo.
frame-done-password = Sua senha foi alterada e todas as suas outras sessões foram encerradas.
frame-done-second-step-removed = A segunda etapa foi desativada.
frame-done-passkey-added = A chave de acesso foi adicionada; agora você pode entrar com ela.
frame-done-passkey-removed = A chave de acesso foi removida.
frame-done-session-ended = Essa sessão foi encerrada.
frame-done-connected = Sua conta está conectada; agora você pode entrar dessa forma.
frame-done-confirmed = O endereço está confirmado; os convites pendentes para ele entraram em vigor.
frame-done-offered = A próxima pessoa que entrar com este endereço no provedor receberá a conta.
frame-done-kept = A transferência foi cancelada; a conta continua como estava.
frame-done-unlocked = A conta está desbloqueada; a próxima entrada não precisa esperar.
frame-done-user-changed = A conta foi alterada.
frame-done-plan = O plano foi salvo.
frame-done-signed-out = Você saiu.
frame-done-signed-out-everywhere = Você saiu de todos os lugares.
frame-name = Nome
frame-email = Endereço de e-mail
frame-password = Senha
frame-copy = Copiar
frame-save = Salvar
frame-role = Função
frame-actions = Ações
frame-you = (você)
frame-pages = Páginas
frame-remove = Remover
frame-undo = Desfazer
frame-done-undone = A alteração foi desfeita.
frame-done-model = Guardado. A próxima pergunta será respondida assim.
