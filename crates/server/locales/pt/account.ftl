account-keys-lead = Para os seus programas. Uma chave pode fazer o que você pode fazer nas caixas em que é administrador ou proprietário.
account-new-key = Nova chave
account-your-new-key = Sua nova chave
account-copy-now = Copie-a agora. Ela não é mostrada de novo, e ninguém pode consultá-la.
account-copy-key = Copiar chave
account-what-for = Para que serve
account-expires = Expira
account-in-30-days = em 30 dias
account-in-90-days = em 90 dias
account-in-a-year = em um ano
account-never = nunca
account-works-in = Funciona em
account-all-boxes = todas as suas caixas, inclusive as futuras
account-only-these = somente estas:
account-not-as = (como { $role } você não pode usar a API)
account-may = Pode
account-visible-hint = Uma chave visível em uma página web só deveria poder pesquisar.
account-sites = Sites cujas páginas podem usá-la
account-sites-hint = Só para uma chave em páginas web, como a do <a href="/account/integrations">chat para o seu site</a>: um site por linha. Deixe vazio para programas.
account-on-pages-of = em páginas de { $sites }
account-create-key = Criar chave
account-no-keys = Nenhuma chave ainda.
account-keys = Chaves
account-key = Chave
account-last-used = Último uso
account-state = Estado
account-since-small = desde
account-revoke-confirm = Revogar a chave { $name }? Os programas que a usam param de funcionar.
account-revoke = Revogar
account-programs = Programas com acesso
account-program = Programa
account-expires-unless = Expira se não for usada até
account-end-confirm = Encerrar o acesso de { $name }? Ele não pode continuar até que você permita de novo.
account-use-it = Use-a
account-certificate = Este servidor usa um certificado autoassinado: <a href="/account/certificate" download>baixe quire-cert.pem</a> para que os programas confiem nele.
account-keep-secret = Não coloque chaves em URLs nem em código público, nem em páginas web, a não ser que a chave indique o site. Uma chave enviada sem HTTPS ou em uma URL é marcada aqui.
account-all-your-boxes = Todas as suas caixas
account-no-boxes-left = Nenhuma caixa restante
account-exposed-url = Enviada dentro de uma URL em { $when }. Outras pessoas podem tê-la visto: revogue-a e crie uma nova.
account-exposed-http = Enviada por HTTP sem criptografia em { $when }. Outras pessoas podem tê-la visto: revogue-a e crie uma nova.
account-state-active = ativa
account-state-expired = expirada
account-state-revoked = revogada
account-may-search = pesquisar e fazer perguntas
account-may-read = listar caixas e arquivos, ler e baixar documentos
account-may-write = adicionar, alterar e excluir arquivos
account-may-manage = gerenciar caixas, membros e chaves
account-you = Você
account-plan = Plano
account-since = Desde
account-change-password = Alterar senha
account-set-a-password = Definir uma senha
account-set-password = Definir senha
account-current-password = Senha atual
account-new-password = Nova senha
account-password-hint = Pelo menos { $count } caracteres. Isto encerra todas as suas outras sessões.
account-second-step = Segunda etapa
account-second-on = Sua conta pede um código do seu aplicativo autenticador depois da senha.
account-second-lead = Um código de um aplicativo autenticador depois da senha, para que a senha sozinha não deixe ninguém entrar.
account-change = Alterar
account-second-set-up = Configurar uma segunda etapa
account-passkeys = Chaves de acesso
account-passkeys-lead = Entre com a digital, o rosto ou o PIN do seu dispositivo, ou com uma chave de segurança, em vez da senha.
account-passkeys-count = { $count ->
        [one] Sua conta tem { $count } chave de acesso para entrar em vez da senha.
       *[other] Sua conta tem { $count } chaves de acesso para entrar em vez da senha.
    }
account-passkeys-manage = Gerenciar chaves de acesso
account-your-passkeys = Suas chaves de acesso
account-no-passkeys = Nenhuma chave de acesso ainda.
account-passkey = Chave de acesso
account-passkey-added = para { $host }, adicionada em <time datetime="{ $since-iso }">{ $since }</time>
account-passkey-used = usada por último em <time datetime="{ $used-iso }">{ $used }</time>
account-passkey-add = Adicionar uma chave de acesso
account-passkey-name-hint = Para você a reconhecer, por exemplo “Notebook do trabalho”.
account-passkey-remove = Remover uma chave de acesso
account-passkeys-address = Chaves de acesso só funcionam em um endereço com nome: abra este servidor pelo nome, não pelo endereço IP.
account-passkeys-most = Você tem { $count } chaves de acesso, o máximo de uma conta. Remova uma para adicionar outra.
account-passkeys-missing = Para adicionar uma é preciso JavaScript e um navegador que aceite chaves de acesso.
account-sign-in-with = Entrar com { $provider }
account-connected = Sua conta está conectada: você pode entrar com { $provider }.
account-your-password = Sua senha
account-connect = Conectar { $provider }
account-look = Aparência
account-colours = Cores neste navegador
account-as-system = como o sistema
account-light = claro
account-dark = escuro
account-language = Idioma
account-language-of-pages = Idioma destas páginas
account-language-of-browser = como o navegador
account-set-language = Definir idioma
account-language-hint = Documentos, respostas e a documentação continuam em seus próprios idiomas.
account-signed-in = Onde você entrou
account-here = aqui
account-session = de { $address }, desde <time datetime="{ $since-iso }">{ $since }</time>, visto por último em <time datetime="{ $seen-iso }">{ $seen }</time>
account-end = Encerrar
account-end-which = a sessão com { $browser } de { $address }
account-sign-out-everywhere = Sair de todos os lugares
account-recovery-codes = Códigos de recuperação
account-your-recovery-codes = Seus códigos de recuperação
account-recovery-hint = Cada um deixa você entrar uma vez, se perder o aplicativo. Eles não são mostrados de novo: guarde-os em um lugar seguro.
account-on = Ativada
account-codes-left = Sua conta pede um código quando você entra com a senha. { $count ->
        [one] Resta { $count } código de recuperação
       *[other] Restam { $count } códigos de recuperação
    }; para obter novos, desative e ative de novo.
account-code = Código
account-turn-off = Desativar
account-set-up-app = Configure seu aplicativo
account-scan = Escaneie isto com um aplicativo autenticador, digite nele a chave abaixo ou <a href="{ $link }">abra o aplicativo com ela</a> neste dispositivo.
account-type-key = Digite esta chave em um aplicativo autenticador ou <a href="{ $link }">abra o aplicativo com ela</a> neste dispositivo.
account-qr = A chave como código QR
account-code-now = O código que ele mostra agora
account-turn-on = Ativar
account-off = Desativada
account-set-up = Configurar
account-let-in = Deixar { $name } entrar?
account-consent = Um programa que se chama <strong>{ $name }</strong> pede para usar suas caixas como você. Qualquer um pode escolher esse nome: continue somente se você mesmo acabou de conectá-lo.
account-it-may = Ele pode
account-in = Em
account-every-box = e cada caixa da qual você se tornar administrador ou proprietário
account-back-to = Você é enviado de volta para
account-describes-itself = Ele se descreve em <code>{ $address }</code>
account-consent-hint = Ele não pode alterar nem excluir nada. As solicitações dele usam as suas unidades. Você pode revogar isto a qualquer momento em Conta, Chaves de API.
account-allow = Deixar entrar
account-decline = Recusar
account-own-program = um programa na sua própria máquina
account-own-app = um aplicativo na sua própria máquina ({ $name })
account-months = Meses
account-units-this-month = Unidades deste mês
account-used-of = <strong>{ $used }</strong> de { $total } usadas
account-units-used = Unidades usadas
account-left = Restam { $left }; renovam-se em <time datetime="{ $iso }">{ $when }</time>.
account-per-day = Por dia
account-units-per-day = Unidades por dia
account-chart = Unidades por dia de { $month }; o dia mais alto tem { $top }
account-searches = pesquisas
account-answers = respostas
account-per-key = Por chave
account-per-operation = Por operação
account-nothing-yet = Nada ainda.
account-calls = Chamadas
account-units = Unidades
account-operation = Operação
account-held = O que você armazena e usa
account-what = O quê
account-used-of-allowed = Usado do permitido
account-raise-hint = Um operador deste servidor pode aumentar estes limites.
account-rate = Limite de taxa agora
account-requests-in-window = Solicitações nesta janela
account-resets = Renova-se
account-requests-of-account = Solicitações da sua conta
account-requests-of-key = Solicitações da chave { $name }
account-key-named = Chave { $name }
account-of = { $used } de { $total }
account-api-only = Só contam solicitações pela API.
account-boxes-owned = Caixas que são suas
account-files-in-them = Arquivos nelas
account-files-waiting = Arquivos aguardando processamento
account-bar = Dia { $day }: { $searches } por pesquisas, { $answers } por respostas
account-dashboard = Painel
account-operation-search = Pesquisas
account-operation-chat = Respostas
account-operation-embeddings = Embeddings
account-operation-rerank = Reordenação
account-your-account = Sua conta
account-webhooks-lead = Avise seus programas quando algo acontece nas suas caixas. <a href="/docs/webhooks">Como os destinatários os verificam</a>.
account-new-secret = Novo segredo
account-the-secret = O segredo do webhook
account-secret-hint = O destinatário verifica as assinaturas com ele. Copie-o agora: ele não é mostrado de novo.
account-copy-secret = Copiar segredo
account-webhooks-off = Este servidor não envia eventos; um operador pode ativá-los com a configuração <code>webhooks.enabled</code>.
account-stopped = interrompido pelo destinatário
account-events = Eventos
account-queue = Fila
account-deliveries = Últimas entregas
account-delivered = entregue
account-failed = falhou
account-send-again = Enviar de novo
account-send-again-which = número { $number }
account-rotate-confirm = Criar um novo segredo? O antigo também continua válido por um dia.
account-webhook-delete-confirm = Excluir este webhook? Eventos pendentes não serão enviados.
account-delete = Excluir
account-no-webhooks = Nenhum webhook ainda.
account-new-webhook = Novo webhook
account-address = Endereço
account-all-api-boxes = todas as caixas cuja API você pode usar
account-create-webhook = Criar webhook
account-attempt-delivered = entregue ({ $status }) em { $took } ms
account-attempt-refused = o destinatário respondeu { $status }
account-attempt-silent = sem resposta
account-event-ready = um arquivo está pronto
account-event-warnings = um arquivo está pronto, com avisos
account-event-failed = um arquivo não pôde ser lido
account-event-replaced = um arquivo tem uma nova versão
account-event-deleted = um arquivo foi excluído
account-event-exposed = uma chave foi enviada onde outros podem vê-la
account-event-synced = uma fonte de uma caixa foi sincronizada
account-event-language = uma caixa mudou para o modelo dos seus idiomas
account-event-unanswered = uma pergunta não encontrou nada em uma caixa
account-webhook-all = todas as suas caixas
account-events-waiting = { $count ->
        [one] { $count } evento aguardando
       *[other] { $count } eventos aguardando
    }
account-integrations-lead = Como outros programas usam este servidor. Onde está <code>quire_…</code>, coloque uma chave sua: <a href="/account/keys">Chaves de API</a>. Mais em <a href="/docs/integrations">Connect other programs</a>.
account-integrations-none = Programas usam caixas em que você é administrador ou proprietário, e você ainda não tem nenhuma: coloque o id de uma onde está <code>BOX_ID</code>.
account-show = Mostrar
account-integrations-certificate = Este servidor usa um certificado autoassinado. Diga a cada programa que confie nele: <a href="/account/certificate" download>baixe quire-cert.pem</a>. Assistentes na nuvem, como Claude e ChatGPT na web, precisam de um certificado publicamente confiável e de um endereço que possam alcançar.
account-copy-what = { $what } para { $program }
account-playground-lead = Experimente a API. As solicitações são reais: alteram o que dizem, e pesquisas e respostas custam unidades. <a href="/docs/api">A referência da API</a> explica cada uma.
account-request = Solicitação
account-api-key = Chave de API
account-playground-key = Uma das <a href="/account/keys">suas chaves</a>. É enviada somente a este servidor e esquecida quando você sai da página.
account-body = Corpo
account-playground-script = O envio precisa de JavaScript, que está desativado neste navegador.
account-send = Enviar
account-same-curl = O mesmo com curl
account-the-curl = o comando curl
account-answer = Resposta
account-steps-claude = Settings, Connectors, Add custom connector: digite o endereço. O Claude abre uma página deste painel na qual você o deixa entrar; não precisa de chave. No Claude Code, use o comando.
account-steps-chatgpt = Settings, Apps &amp; Connectors, com o modo de desenvolvedor ativado: crie um conector com este endereço como servidor MCP e OAuth como autenticação. Você o deixa entrar em uma página deste painel; não precisa de chave.
account-steps-cursor = Coloque isto em ~/.cursor/mcp.json. Sem os cabeçalhos, o Cursor pede que você o deixe entrar em uma página deste painel. O VS Code e outros que têm um arquivo assim aceitam o mesmo.
account-steps-open-webui = Admin Settings, Connections, OpenAI API: o endereço e uma chave. Cada caixa é então um modelo cujas respostas têm citações. Em Documents, o mesmo endereço serve como mecanismo de embeddings (OpenAI) e de extração de conteúdo (External), e o segundo como reordenador externo.
account-steps-dify = Knowledge, External Knowledge API: adicione este endpoint com uma chave. Depois conecte uma base de conhecimento externa com o id da caixa.
account-steps-n8n = Adicione o nó MCP Client Tool com este endpoint, HTTP Streamable como transporte e autenticação bearer com uma chave. O nó HTTP Request funciona com a API.
account-steps-widget = Um chat para o seu site. Crie uma chave para esta caixa que só possa pesquisar e que indique o seu site, como https://www.example.org. Depois coloque esta tag com essa chave nas suas páginas: elas ganham um botão que abre um chat sobre a caixa. Quem puder ver as páginas pode perguntar sobre tudo o que está na caixa, e isso consome as suas unidades.
account-steps-curl = Pesquisa na caixa.
account-steps-python = O cliente está em sdk/python do repositório (quire-sdk).
account-steps-typescript = O cliente está em sdk/typescript do repositório (quire-sdk).
account-kind-assistants = Assistentes
account-kind-platforms = Plataformas
account-kind-pages = Suas próprias páginas
account-kind-own = Seus próprios programas
account-copied-claude-code = Claude Code
account-copied-json = mcp.json
account-copied-reranker = Reordenador
account-copied-endpoint = Endpoint
account-copied-knowledge = Id da base de conhecimento
account-copied-api = API
account-copied-tag = Tag
account-copied-command = Comando
account-copied-environment = Ambiente
account-notices = Notificações
account-notices-lead = O que precisa de sua atenção. Cada aviso desaparece quando a causa desaparece.
account-notices-none = Nada precisa da sua atenção
account-notices-none-why = Aqui aparecem os arquivos que não podem ser lidos, as unidades que estão acabando e as chaves prestes a expirar.
account-notice-now = agora
account-notice-soon = em breve
account-notice-failed = { $count ->
        [one] { $count } arquivo de { $box } não pôde ser lido.
       *[other] { $count } arquivos de { $box } não puderam ser lidos.
    }
account-notice-few-units = { $left ->
        [one] Resta { $left } unidade até <time datetime="{ $iso }">{ $when }</time>.
       *[other] Restam { $left } unidades até <time datetime="{ $iso }">{ $when }</time>.
    }
account-notice-no-units = Não restam unidades. As pesquisas e respostas voltam a funcionar a partir de <time datetime="{ $iso }">{ $when }</time>.
account-notice-key-expires = A chave { $name } deixa de funcionar em <time datetime="{ $iso }">{ $when }</time>.
account-notice-key-expired = A chave { $name } deixou de funcionar em <time datetime="{ $iso }">{ $when }</time>.
account-notice-key-exposed = A chave { $name } foi enviada onde outros podiam lê-la, em <time datetime="{ $iso }">{ $when }</time>. Substitua-a.
account-notice-show-files = Ver os arquivos
account-notice-show-usage = Ver o uso
account-notice-show-keys = Ver as chaves
