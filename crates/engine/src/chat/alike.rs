//! Words that people use for the same thing, so that a question finds the sentence which calls it otherwise.
//!
//! Small and general on purpose: the words of everyday business, in the languages that fixed sentences are written in. A word
//! that is only alike counts less than the word itself.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    sync::LazyLock,
};

use super::words;

/// What a word counts that is only like the one asked for.
pub(super) const LIKE: f32 = 0.75;

/// Each line is one thing.
const GROUPS: &[&str] = &[
    "employ employs employed employees employee workforce staff headcount personnel mitarbeiter beschäftigte belegschaft angestellte empleados plantilla personal trabajadores salariés employés effectif effectifs funcionários colaboradores empregados dipendenti organico",
    "headquarters headquarter headquartered headoffice offices office seat hauptsitz sitz zentrale sede siège domicilio sedi",
    "turnover revenue revenues sales umsatz erlöse ingresos facturación ventas receita receitas faturamento vendas fatturato ricavi vendite",
    "profit earnings income gewinn ertrag beneficio ganancia bénéfice lucro utile",
    "price prices cost costs costing fee fees charge charges amount rate preis preise kosten kostet gebühr betrag precio precios coste costo cuesta cuestan tarifa prix coût coûte coûtent tarif preço preços custo custa custam taxa prezzo prezzi costa costano tariffa",
    "weigh weighs weight weighed heavy heavier mass gewicht wiegt wiegen schwer schwerer peso pesa pesan pesado poids pèse pèsent masse massa pesam kg",
    "warranty guarantee guaranteed garantie gewährleistung garantía garantia garanzia",
    "delivery deliver delivers delivered deliveries carrier courier shipping shipped ship ships shipment dispatch dispatched lieferung geliefert liefern lieferzeit versand versandt verschickt entrega entregado envío enviado livraison livré expédition expédié entregue envio enviada consegna consegnato spedizione spedito",
    "participate participated participants participant attended attend assigned enrolled recruited joined teilgenommen teilnehmer nahmen participaron participantes participé participants participaram partecipato partecipanti",
    "missed miss couldn't absent absence missing excused apologies regrets abwesend fehlte fehlten entschuldigt ausente ausentes faltó absents absente excusés faltou faltaram assente assenti",
    "attended present attendees attendance anwesend teilnehmer asistieron presentes asistentes présents présent presenti",
    "height high tall hoch höhe altura alto haut hauteur altezza",
    "width wide broad breit breite anchura ancho largeur large largura larghezza largo",
    "length lang länge longitud longueur comprimento lunghezza",
    "colour color colours colors farbe farben couleur couleurs cor cores colore colori",
    "owner responsible organise organises organising organised organize organizes organizing organizer organiser owns runs run chief president lead leads leader head heads manager manages director directs leitet leiter leiterin verantwortlich zuständig responsable dirige director directora encargado dirigé directeur directrice responsável diretor diretora responsabile direttore",
    "address located location adresse anschrift dirección ubicación emplacement endereço localização indirizzo",
    "phone telephone hotline telefon tel teléfono téléphone telefone telefono",
    "begin begins began begun start starts started starting opens beginnt beginn anfang empieza comienza inicio comienzo commence début começa início comincia inizia inizio",
    "end ends ended ending finish finishes finished expire expires closes endet ende termina fin finaliza finit termine fim fine finisce scade",
    "buy bought purchase purchased acquire acquired acquisition gekauft kaufen erworben compra comprado adquirió achat acheté acquis comprou adquirido acquisto acquistato",
    "rent lease miete pacht alquiler renta arriendo arrendamiento canon loyer aluguel affitto",
    "error errors fault faults failure failures alarm problem problems störung störungen fehler fehlercode meldung avería averías error errores fallo fallos panne pannes erreur erreurs falha falhas erro erros guasto guasti errore errori",
    "meaning description explanation cause bedeutung beschreibung erklärung ursache significado descripción explicación causa signification description explication descrição explicação significato descrizione",
    "salary wage wages pay gehalt lohn salario sueldo salaire salário stipendio",
    "holiday holidays vacation leave urlaub ferien vacaciones vacances férias ferie",
    "deadline due frist fällig abgabetermin plazo límite délai échéance prazo scadenza",
    "date day datum tag fecha date jour data giorno",
    "founded established founding created gegründet gründung fundada fundado fundación fondée fondé fondation fundação fondata fondato",
    "allowed permitted may permission erlaubt gestattet dürfen permitido permite permis autorisé permitida permesso consentito",
    "forbidden prohibited banned verboten untersagt prohibido prohibida interdit interdite proibido proibida vietato",
    "customer customers client clients kunde kunden cliente clientes clienti",
    "number count quantity qty total anzahl menge número cantidad nombre quantité quantidade numero quantità",
    "name names namen nombre nombres nom noms nome nomes nomi",
    "power wattage watt leistung potencia puissance potência potenza",
    "speed fast velocity geschwindigkeit schnell velocidad vitesse velocidade velocità",
    "people persons inhabitants population residents einwohner bevölkerung personen habitantes población habitants população abitanti popolazione",
    "died death dead killed deaths starb gestorben tot murió muerte mort décès morreu morte morto",
    "born birth geboren geburt nació nacimiento né naissance nasceu nascimento nato nascita",
    "increase increased rise rose risen grew growth gestiegen wuchs wachstum aumentó creció aumento augmenté hausse cresceu crescimento aumentato crescita",
    "decrease decreased fall fell fallen drop dropped decline declined gesunken fiel rückgang disminuyó cayó baissé baisse caiu diminuiu calato diminuito",
    "battery batteries accumulator akku batterie batería baterías pile bateria baterias batteria",
    "return returns refund refunded rückgabe erstattung devolución reembolso retour remboursement devolução restituzione rimborso",
    "cancel cancelled cancellation terminate termination quit kündigen kündigung stornierung cancelar cancelación résilier résiliation annulation cancelamento rescisão disdetta annullamento",
    "repair repairs repaired fix fixed reparatur repariert reparación réparation réparé reparação riparazione",
    "meeting minutes sitzung besprechung protokoll reunión réunion reunião riunione",
    "author wrote written autor verfasser verfasst escribió autora auteur écrit escreveu escrito autore scritto",
    "supplier suppliers supply supplies supplied vendor vendors provider lieferant proveedor fournisseur fornecedor fornitore",
    "temperature hot cold warm temperatur heiß kalt temperatura caliente frío température chaud froid quente frio caldo freddo degrees grad grados degrés graus gradi celsius",
    "fund funded funding finance financed financing paid sponsor sponsored finanziert bezahlt financiado financió financé financiou finanziato",
    "study trial experiment survey research studie versuch untersuchung estudio ensayo étude essai estudo studio",
    "build built builds construct constructed construction erected gebaut erbaut bau construyó construido construida construit construite construído construída costruito costruita",
    "size dimensions measurements größe abmessungen maße tamaño medidas dimensiones taille tamanho dimensões dimensioni misure",
    "capacity volume kapazität fassungsvermögen volumen capacidad capacité capacidade capacità",
    "stock inventory hand bestand lager existencias inventario stocks estoque scorte",
    "email mail e-mail correo courriel",
    "penalty fine fines strafe bußgeld multa sanción amende multas sanzione",
    "url uri link links website webpage address adresse dirección enlace adresse lien endereço indirizzo",
    "available availability uptime verfügbar verfügbarkeit disponible disponibilidad disponibilité disponível disponibilidade disponibile disponibilità",
    "dispose disposal discard rid throw thrown collected collection entsorgen entsorgung wegwerfen eliminar desechar jeter éliminer descartar smaltire smaltimento",
    "noise noisy loud loudness decibel decibels lärm laut lautstärke geräusch ruido ruidoso bruit bruyant ruído rumore",
    "approve approved approval genehmigt beschlossen aprobó aprobado approuvé approbation aprovou aprovado approvato",
    "train bus car vehicle fahrzeug auto coche vehículo voiture véhicule carro veículo auto veicolo",
];

/// What is written short in questions and in full in documents.
const WRITTEN_OUT: &[(&str, &str)] = &[
    ("ceo", "chief executive officer"),
    ("cfo", "chief financial officer"),
    ("coo", "chief operating officer"),
    ("cto", "chief technology officer"),
    ("hr", "human resources"),
    ("kpi", "key performance indicator"),
    ("nda", "non-disclosure agreement"),
    ("pto", "paid time off"),
    ("sla", "service level agreement"),
    ("vat", "value added tax"),
];

/// The stems of each group, and the groups that each stem is in: there are a thousand, and every question asks for some.
static STEMS: LazyLock<Vec<Vec<String>>> =
    LazyLock::new(|| GROUPS.iter().map(|group| group.split(' ').map(words::stem).collect()).collect());
static PLACES: LazyLock<HashMap<&str, Vec<usize>>> = LazyLock::new(|| {
    let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, stems) in STEMS.iter().enumerate() {
        for stem in stems {
            places.entry(stem).or_default().push(at);
        }
    }
    places
});

/// The stems of words for the same thing as this stem, itself left out.
pub(super) fn of(stem: &str) -> Vec<String> {
    let groups = PLACES.get(stem).into_iter().flatten();
    let stems = groups.flat_map(|at| &STEMS[*at]).filter(|known| *known != stem);
    let alike: BTreeSet<&String> = stems.collect();
    alike.into_iter().cloned().collect()
}

/// A stem and those of words for the same thing.
pub(super) fn with(stem: &str) -> Vec<String> {
    std::iter::once(stem.to_string()).chain(of(stem)).collect()
}

/// A question in the words of the passages: what they call otherwise, they are asked for by their own word.
pub(super) fn replaced(question: &str, there: &HashSet<String>) -> Option<String> {
    let mut said = question.to_string();
    // From the end, so that places hold.
    for word in words::telling(question).iter().rev().filter(|word| !there.contains(&word.stem)) {
        let group = PLACES.get(word.stem.as_str()).and_then(|groups| groups.first());
        let other = group.and_then(|at| {
            GROUPS[*at]
                .split(' ')
                .zip(&STEMS[*at])
                .find(|(_, stem)| there.contains(*stem))
                .map(|(known, _)| known)
        });
        let at = word.text.as_ptr() as usize - question.as_ptr() as usize;
        if let Some(other) = other {
            said.replace_range(at..at + word.text.len(), other);
        }
    }
    (said != question).then_some(said)
}

/// Further words to search for, where a question's own find nothing: those of the same language, as far as letters tell.
pub(super) fn expanded(question: &str) -> Option<String> {
    const MOST: usize = 8;
    let asked = words::telling(question);
    let mut more: Vec<&str> = Vec::new();
    for (short, whole) in WRITTEN_OUT {
        if asked.iter().any(|word| word.text.eq_ignore_ascii_case(short)) {
            more.extend(whole.split(' '));
        }
    }
    for (group, stems) in GROUPS.iter().zip(STEMS.iter()) {
        if asked.iter().any(|word| stems.contains(&word.stem)) {
            let fresh = |stem: &String| !asked.iter().any(|asked| asked.stem == *stem);
            let known = group.split(' ').zip(stems).filter(|(_, stem)| fresh(stem));
            more.extend(known.map(|(known, _)| known).take(4));
        }
    }
    more.truncate(MOST);
    (!more.is_empty()).then(|| format!("{question} {}", more.join(" ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_words_for_the_same_thing_are_known() {
        let alike = |a: &str, b: &str| of(&words::stem(a)).contains(&words::stem(b));
        assert!(
            alike("employ", "workforce") && alike("headquartered", "offices") && alike("turnover", "revenue")
        );
        assert!(alike("weigh", "weight") && alike("cuesta", "price") && alike("Garantie", "warranty"));
        assert!(!alike("duck", "revenue") && of("duck").is_empty());
        assert!(expanded("How many people does it employ?").unwrap().contains("workforce"));
        assert_eq!(expanded("Who is the CFO?").as_deref(), Some("Who is the CFO? chief financial officer"));
        assert_eq!(expanded("Where do ducks nest?"), None);
        let there = HashSet::from([words::stem("revenue"), words::stem("acme")]);
        let said = replaced("What was Acme's turnover in 2023?", &there);
        assert_eq!(said.as_deref(), Some("What was Acme's revenue in 2023?"));
        assert_eq!(replaced("What was the revenue?", &there), None);
    }
}
