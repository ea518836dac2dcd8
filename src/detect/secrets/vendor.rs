//! Keys without a form of their own, beside the name of the service that gives them: `fastly_key = ...`.

use super::plausible;
use crate::detect::finding::{Finding, floor_boundary, is_word_char};
use regex::Regex;
use std::sync::LazyLock;

/// The kind of what is found here.
pub const KIND: &str = "service_key";
/// A value is looked for within this many bytes behind the name.
const REACH: usize = 640;
/// A key without form is no shorter.
const MIN_KEY: usize = 16;
/// A service's name, an operator and a generated value: surer than a word such as `key`, less than a form.
const CONFIDENCE: f64 = 0.7;

/// Words that may stand between the name and the value, what joins them, and the value.
#[expect(clippy::expect_used, reason = "constants that the tests compile")]
static BEHIND: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r#"(?i-u)\A((?:[ \t_.-]{0,2}(?:api|app|key|token|secret|access|private|personal|pat|auth|oauth|client|code|bearer|user|org|admin|account|rest|sdk|crm|sms|live|prod|test|dev|v\d|password|x))*)["'`\])]{0,3}[ \t]{0,4}(?:==|=>|:=|\|\||[:=,|>(-])?[ \t]{0,4}["'`(]{0,3}([A-Z0-9][A-Z0-9_+/=.~-]{15,511})"#,
    )
    .expect("a constant that the tests compile")
});

/// Services whose keys have no published form, or had none for long. No ordinary words: those are [`WORDS`].
pub const NAMES: &str = "anthropic auth0 blynk cerebras databento deepseek dockerhub facebook google grafana \
    groq jenkins jfrog langchain langsmith okta openvpn posthog pubnub qdrant runpod shopify supabase thingsboard \
    truenas vonage weaviate wireguard abstractapi accuweather activecampaign ahrefs airbrake aircall alchemyapi \
    algolia aliyun anypoint apiflash appcues appdynamics appfollow appsflyer artifactory assemblyai atlassian \
    authy autodesk aviationstack axonaut bamboohr bannerbear baremetrics basecamp billomat bitbucket bitfinex \
    bitly bitmex blazemeter bluesnap bombbomb braintree branchio browserstack bugsnag buildkite bunnycdn buttercms \
    calendarific calendly campaignmonitor cannyio capsulecrm chargebee chartmogul circleci clarifai clearbit \
    clickhouse clicksend clicktime clientary clockify cloudant cloudconvert cloudflare cloudimage cloudinary \
    cloudmersive cloudsmith cloudways codacy codeclimate codecov codemagic coinapi coinbase coinlayer \
    coinmarketcap contentful convertkit coveralls currencycloud currencylayer currencyscoop customerio datadog \
    datagov deepai deepgram detectify detectlanguage dfuse dialogflow diffbot digicert digitalocean discogs \
    docparser docusign dovico dribbble droneci dropbox drupal duply dwolla dynalist edamam edenai elasticemail \
    elevenlabs etherscan etsy eventbrite everhour exchangerate fastforex fastly figshare filestack finage findl \
    finnhub firebase fixerio flickr flightapi flightstats flowflu foursquare freshbooks freshdesk freshservice \
    fullstory fullcontact gemfury geocodio geoapify getgist getresponse giphy github gitlab gitter glassnode \
    gocanvas gocardless goodreads graphcms graphhopper groovehq gumroad happyscribe hellosign helpcrunch helpscout \
    heroku hereapi hiveage honeybadger hubspot hunterio hypertrack iconfinder imagekit infura insightly instabot \
    interseller ipapi ipdata ipgeolocation ipify ipinfo ipstack jotform jumpcloud juro karmacrm keenio kickbox \
    klaviyo kontent kucoin kylas languagelayer launchdarkly leadfeeder lemlist lemonsqueezy lendflow linemessaging \
    linkedin linode livestorm locationiq loginradius logdna loggly logzio lokalise luno madkudu mailboxlayer \
    mailchimp mailerlite mailgun mailjet mailmodo mailsac mapbox mapquest marketstack mattermost maxmind mavenlink \
    mediastack meistertask messagebird metaapi metabase mindmeister miro mixpanel monkeylearn moonclerk moosend \
    mrticktock myfreshworks myintervals nasdaq nethunt netlify newrelic newsapi newscatcher nexmo nftport ngc \
    nicereply nozbe nugetapi numverify nutritionix nvidia nytimes nylas oanda omnisend onedesk onelogin onepagecrm \
    onfleet openai opencage opencagedata opengraphr openuv openweather openweathermap opsgenie optimizely owlbot \
    pagerduty pandadoc paperform paralleldots parsehub parseur partnerstack passbase pastebin paydirtapp paymo \
    paymongo paypal paystack pdflayer pdfshift peopledatalabs pepipost phraseapp pipedrive pivotaltracker pixabay \
    planio planviewleankit podio polygonio postageapp powrbot prismic prodpad prospectcrm proxycrawl purestake \
    pushbullet pyowm qase qualaroo quickbooks quickmetrics rapidapi rawg razorpay reallysimple rechargepayments \
    recruitee redash rentman repairshopr requestfinance restpack ringcentral ritekit rocketreach rollbar route4me \
    rownd runrunit runscope salesblink salesforce salesflare salesmate satismeter saucelabs scaleway scalr \
    scrapeowl scraperapi scrapestack scrapfly scrapingant scrapingbee screenshotapi screenshotlayer securitytrails \
    selectpdf sendbird sendinblue serphouse serpstack sharefile sherpadesk shipday shippo shodan shotstack \
    shutterstock sigopt simplesat simplynoted simvoly sirv siteleaf skrapp skybiometry slackapi smartsheet \
    smartystreets snipcart snyk solarwinds sonarcloud sonarqube sparkpost splunk spoonacular sportsmonks spotify \
    squarespace sslmate statuscake statuspage statuspal stitchdata stockdata stormglass storyblok storychief \
    strava stytch sugester sumologic supernotes surveyanyplace surveybot surveysparrow survicate swiftype tallyfy \
    tatum taxjar teamgate teamworkcrm teamworkdesk telnyx tefter testingbot textmagic theoddsapi thinkific \
    thousandeyes ticketmaster tiingo timezoneapi tineswebhook tmetric todoist toggl tomorrowio tomtom tradier \
    transferwise travelpayouts travisci trello trufflehog tubebuddy twelvelabs twilio twitter tyntec typeform \
    ubidots uclassify unplugg unsplash upcdatabase uplead uploadcare uptimerobot upwave urlscan userflow userstack \
    vatlayer vercel versioneye viewneo virustotal visualcrossing voicegain voodoosms vouchery vyte walkscore wandb \
    weatherbit weatherstack webex webflow wepay whoxy wistia wordsapi workstack worldcoinindex worldweather wrike \
    xata xing yahoo yandex yodlee youneedabudget youtube zapier zendesk zenrows zenscrape zenserp zeplin \
    zerobounce zerotier zipapi zipbooks zipcodeapi zipcodebase zixmail zoho zonka zoominfo zulip";

/// Such services whose names are words of plain text and code too. A word that says key, token or secret must stand
/// behind them, because `segment: 5f0c…` and `float 3f2a…` are no keys.
pub const WORDS: &str = "adobe airship amplitude apollo asana azure beamer census cohere confluent copper \
    dandelion delighted enigma fireworks float geocode guru harvest humanity impala intercom kanban knapsack \
    kraken lob looker magnetic mandrill mistral moderation neutrino nimble nitro noticeable parsers particle \
    perplexity persona pinecone pipedream plaid postbacks postman postmark pusher pushover ramp raven readme \
    refiner replicate revamp roaring sauce segment semaphore sentiment sentry shortcut slack smooch streak stripe \
    swell telegram teletype together twist twitch unify voyage webscraper webscraping workday yelp";

/// Adds the key behind the name between the two places; gives where it ends.
pub fn look(text: &str, (start, end): (usize, usize), found: &mut Vec<Finding>) -> Option<usize> {
    if text[..start]
        .chars()
        .next_back()
        .is_some_and(|c| (is_word_char(c) && c != '_') || matches!(c, '.' | '/' | '@'))
    {
        return None;
    }
    let rest = &text[end..floor_boundary(text, end + REACH)];
    let behind = BEHIND.captures(rest)?;
    let (words, value) = (behind.get(1)?.as_str(), behind.get(2)?);
    let key = value.as_str().trim_end_matches(['.', '-', '=']);
    if !is_key(key) || is_ordinary(&text[start..end]) && !says_key(words) {
        return None;
    }
    let place = (end + value.start(), end + value.start() + key.len());
    found.push(Finding { kind: KIND, start: place.0, end: place.1, confidence: CONFIDENCE });
    Some(place.1)
}

fn is_ordinary(name: &str) -> bool {
    WORDS.split_ascii_whitespace().any(|word| word.eq_ignore_ascii_case(name))
}

/// Whether the words between a name and a value say that it is a credential.
fn says_key(words: &str) -> bool {
    let words = words.to_ascii_lowercase();
    ["key", "token", "secret", "password", "auth", "bearer", "pat"].iter().any(|word| words.contains(word))
}

/// Hexadecimal, a UUID, or letters and digits without order: no word, version, path or name of a file.
fn is_key(key: &str) -> bool {
    let digits = key.bytes().filter(u8::is_ascii_digit).count();
    let longest = key.split(['-', '_', '.', '/', '=', '+', '~']).map(str::len).max().unwrap_or(0);
    let has_word =
        key.split(['-', '.']).any(|piece| piece.len() > 3 && piece.bytes().all(|b| b.is_ascii_alphabetic()));
    let run = key.split(|c: char| !c.is_ascii_digit()).map(str::len).max().unwrap_or(0);
    key.len() >= MIN_KEY
        // A long number with a word behind it is an identifier.
        && run * 2 <= key.len()
        && digits >= if key.len() < 20 { 4 } else { 3 }
        && (!key.contains('/') || key.ends_with('=') || key.contains('+') || longest >= 24)
        && digits < key.len()
        && (longest >= 16 || plausible::is_uuid(key) || key.contains(['-', '.']) && longest >= 5 && digits >= 8 && !has_word)
        && plausible::entropy(key) >= 3.0
        && plausible::is_varied(key)
        && !plausible::is_placeholder(key)
        && !plausible::is_code(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "4f9a8b7c6d5e4f3a2b1c9d8e";

    fn found(text: &str, name: &str) -> Option<String> {
        let at = text.find(name).unwrap();
        let mut found = Vec::new();
        let end = look(text, (at, at + name.len()), &mut found);
        assert_eq!(found.first().map(|finding| finding.end), end);
        found.first().map(|finding| text[finding.start..finding.end].to_owned())
    }

    #[test]
    fn a_name_that_is_no_word_needs_a_value_only() {
        for text in [format!("fastly = '{KEY}'"), format!("fastly_api_token: {KEY}"), format!("fastly {KEY}")]
        {
            assert_eq!(found(&text, "fastly").as_deref(), Some(KEY), "{text}");
        }
    }

    #[test]
    fn an_ordinary_word_needs_one_that_says_key() {
        for word in WORDS.split_ascii_whitespace() {
            for text in [
                format!("{word} {KEY}"),
                format!("{word}: \"{KEY}\""),
                format!("{word}_user = {KEY}"),
                format!("{word}.v2={KEY}"),
            ] {
                assert_eq!(found(&text, word), None, "{text}");
            }
            for text in [
                format!("{word}_api_key={KEY}"),
                format!("{word} token: {KEY}"),
                format!("{word}-client-secret => '{KEY}'"),
            ] {
                assert_eq!(found(&text, word).as_deref(), Some(KEY), "{text}");
            }
        }
        assert_eq!(found(&format!("Together_API_KEY = {KEY}"), "Together").as_deref(), Some(KEY));
    }

    #[test]
    fn no_name_stands_in_both_lists() {
        let names: Vec<&str> = NAMES.split_ascii_whitespace().collect();
        assert!(WORDS.split_ascii_whitespace().all(|word| !names.contains(&word)));
    }
}
